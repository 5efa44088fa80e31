//! Births race against ends, through public addresses, on two nodes (`security-design` rule 1).

use crate::kit::browser::Browser;
use crate::kit::flow::{WEB, authorize, code, introspect, redeem, refresh};
use crate::kit::op::{Op, PASSWORD};

use super::{Held, is_signed_in, set_password, switch};

const ROUNDS: usize = 200;
const OTHER: &str = "another good password";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Logout,
    Disable,
    NewPassword,
}

/// How often a birth came before its parent's end, and after.
#[derive(Debug, Default)]
struct Tally {
    before: usize,
    after: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn power_is_never_born_after_its_end_on_two_nodes() {
    let one = Op::start().await;
    let two = Op::builder().beside(&one).start().await;
    let (mut password, mut next) = (PASSWORD, OTHER);
    let mut tally = Tally::default();
    for round in 0..ROUNDS {
        let end = [End::Logout, End::Disable, End::NewPassword][round % 3];
        let race = Race { one: &one, two: &two, end, round, password, next };
        race.run(&mut tally).await;
        nothing_lives_under_what_ended(&one, end).await;
        match end {
            End::Logout => {}
            End::Disable => switch(&two, true).await,
            End::NewPassword => std::mem::swap(&mut password, &mut next),
        }
        one.poll().await;
    }
    assert!(tally.before > 0 && tally.after > 0, "the race has no winner but one: {tally:?}");
}

struct Race<'a> {
    one: &'a Op,
    two: &'a Op,
    end: End,
    round: usize,
    password: &'static str,
    next: &'static str,
}

impl Race<'_> {
    async fn run(&self, tally: &mut Tally) {
        let (one, two) = (self.one, self.two);
        let mut browser = one.browser();
        browser.get(&authorize(WEB, "openid", &[])).await;
        let spent = browser.sign_in("alice", self.password).await.location_param("code").expect("a code");
        let held = Held::read(WEB, &redeem(one, WEB, &spent).await.json());
        let unspent = code(&mut browser, WEB, "openid").await;
        let mut late = one.browser();
        late.get(&authorize(WEB, "openid", &[])).await;
        let mut elsewhere = two.browser();
        elsewhere.steal(&browser, "");

        let (redeemed, refreshed, answer, ()) = tokio::join!(
            redeem(one, WEB, &unspent),
            refresh(one, WEB, &held.refresh),
            late.sign_in("alice", self.password),
            self.end(&mut elsewhere, &held),
        );
        two.poll().await;
        one.poll().await;
        let why = format!("round {}, {:?}", self.round, self.end);
        for answer in [&redeemed, &refreshed] {
            assert!(matches!(answer.status.as_u16(), 200 | 400), "{why}: {} {}", answer.status, answer.body);
            if answer.status == 200 {
                tally.before += 1;
                let born = Held::read(WEB, &answer.json());
                for node in [one, two] {
                    assert_eq!(introspect(node, WEB, &born.access).await["active"], false, "{why}");
                    assert_eq!(refresh(node, WEB, &born.refresh).await.status, 400, "{why}");
                }
            } else {
                tally.after += 1;
            }
        }
        assert!(matches!(answer.status.as_u16(), 303 | 422), "{why}: {} {}", answer.status, answer.body);
        assert!(!is_signed_in(&mut browser).await, "{why}: the session that ended");
        // Another session of hers is not concerned by a logout, and by everything else it is.
        let lives = answer.status == 303 && self.end == End::Logout;
        assert_eq!(is_signed_in(&mut late).await, lives, "{why}: the one that opened meanwhile");
    }

    async fn end(&self, elsewhere: &mut Browser<'_>, held: &Held) {
        // Each round begins at another moment of the births.
        for _ in 0..self.round % 17 {
            tokio::task::yield_now().await;
        }
        match self.end {
            End::Logout => {
                let answer = elsewhere.get(&format!("/logout?id_token_hint={}", held.id)).await;
                assert_eq!(answer.status, 200, "{}", answer.body);
            }
            End::Disable => switch(self.two, false).await,
            End::NewPassword => set_password(self.two, self.next).await,
        }
    }
}

/// Online grants of ended sessions, grants of disabled people, sessions of disabled people or from before a
/// new password.
async fn nothing_lives_under_what_ended(op: &Op, end: End) {
    let session = "session s where s.realm_id = c.realm_id and s.id = c.session_id";
    let user = "user_account u where u.realm_id = c.realm_id and u.id = c.user_id";
    let orphans = format!(
        "select (select count(*) from grant_record c where c.ended_at is null and not c.offline \
           and exists (select 1 from {session} and s.ended_at is not null)) \
         + (select count(*) from grant_record c where c.ended_at is null \
           and exists (select 1 from {user} and not u.enabled)) \
         + (select count(*) from session c where c.ended_at is null \
           and exists (select 1 from {user} and (not u.enabled or u.credential_epoch <> c.credential_epoch)))"
    );
    assert_eq!(op.db.number(&orphans).await, 0, "{end:?}: something lives under what ended");
}
