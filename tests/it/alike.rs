//! Unknown name, wrong password, disabled account, empty password, no password: nobody can tell which, by
//! words, status, headers, or work (`security-design` rules 22 and 23).

use crate::kit::browser::Answer;
use crate::kit::flow::{WEB, authorize};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::process::Doorward;
use crate::kit::visitor::{self, Visitor};

/// What, name, password.
const ATTEMPTS: [(&str, &str, &str); 9] = [
    ("wrong password", "alice", "not her password at all"),
    ("unknown name", "nobody", "not her password at all"),
    ("unknown address", "nobody@example.com", "not her password at all"),
    ("disabled, right password", "disabled", PASSWORD),
    ("disabled, wrong password", "disabled", "not her password at all"),
    ("no password set", "nopass", "not her password at all"),
    ("empty password", "alice", ""),
    ("empty name and password", "", ""),
    ("a name that cannot be", "a\u{7}\u{202e}b", "not her password at all"),
];

/// The page without what differs from request to request, and without the name that was typed.
fn plain(answer: &Answer, name: &str) -> String {
    let page = answer.page();
    let form = page.form_with("login-submit").expect("the form again");
    assert_eq!(form.value("username").as_deref(), Some(name), "the name is kept");
    assert_eq!(form.value("password").unwrap_or_default(), "", "the password is not");
    let mut text = answer.body.clone();
    for own in [form.value("csrf"), form.value("flow"), answer.header("x-request-id").map(str::to_owned)] {
        let own = own.expect("on the page");
        assert!(!own.is_empty());
        text = text.replace(&own, "-");
    }
    let shown = text.find("name=\"username\"").expect("the field");
    let value = shown + text[shown..].find("value=\"").expect("its value") + 7;
    let end = value + text[value..].find('"').expect("its end");
    text.replace_range(value..end, "-");
    // Where nothing was typed into it, the name is asked for first; who left it empty knows that.
    text.replace(" autofocus", "")
}

#[tokio::test]
async fn refused_sign_ins_are_answered_alike() {
    let op = Op::start().await;
    let mut first: Option<(String, Vec<String>)> = None;
    for (what, name, password) in ATTEMPTS {
        let mut browser = op.browser();
        browser.get(&authorize(WEB, "openid", &[])).await;
        let answer = browser.submit_once("login-submit", &[("username", name), ("password", password)]).await;
        assert_eq!(answer.status, 422, "{what}");
        let mut headers: Vec<String> = answer
            .headers
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "x-request-id" | "content-length"))
            .map(|(name, value)| format!("{name}: {value:?}"))
            .collect();
        headers.sort();
        let seen = (plain(&answer, name), headers);
        match &first {
            None => first = Some(seen),
            Some(first) => {
                assert_eq!(&seen.0, &first.0, "{what}");
                assert_eq!(&seen.1, &first.1, "{what}");
            }
        }
        assert!(browser.cookie("session").is_none(), "{what}");
    }
}

/// What one attempt costs, as far as it can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    hashes: u64,
    refused: u64,
    commits: u64,
    audited: i64,
    /// Statements that read, that write, and those of the batched writer, which write.
    statements: [u64; 3],
}

async fn so_far(server: &Doorward) -> Cost {
    let text = visitor::get(&format!("{}/metrics", server.management()), &[]).await.body;
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0, |rest| rest.trim().parse::<u64>().expect("a whole number"))
    };
    Cost {
        hashes: value("doorward_password_hash_duration_seconds_count{algorithm=\"argon2id\"} "),
        refused: value(
            "doorward_sign_ins_total{method=\"password\",realm=\"main\",reason=\"password\",result=\"failure\"} ",
        ),
        commits: value("doorward_batch_operations_sum "),
        audited: server.db().number("select count(*) from audit_event").await,
        statements: ["read", "write", "batch"]
            .map(|what| value(&format!("doorward_store_statements_total{{for=\"{what}\"}} "))),
    }
}

#[tokio::test]
async fn refused_sign_ins_cost_alike() {
    let server = Doorward::running().await;
    let mut first: Option<Cost> = None;
    for (what, name, password) in ATTEMPTS {
        let mut visitor = Visitor::new(&server.issuer());
        visitor.open(&authorize(WEB, "openid", &[])).await;
        let before = so_far(&server).await;
        let answer = visitor.submit("login-submit", &[("username", name), ("password", password)]).await;
        assert_eq!(answer.status, 422, "{what}");
        // The audit event is written behind the answer.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
        let mut after = so_far(&server).await;
        while (after.audited == before.audited || after.commits == before.commits) && std::time::Instant::now() < until
        {
            after = so_far(&server).await;
        }
        let cost = Cost {
            hashes: after.hashes - before.hashes,
            refused: after.refused - before.refused,
            commits: after.commits - before.commits,
            audited: after.audited - before.audited,
            statements: std::array::from_fn(|at| after.statements[at] - before.statements[at]),
        };
        let first = *first.get_or_insert(cost);
        assert_eq!(cost, first, "{what}");
        assert_eq!((cost.hashes, cost.refused, cost.commits, cost.audited), (1, 1, 1, 1), "{what}");
        assert!(cost.statements[0] > 0 && cost.statements[2] > 0, "{what}: they are counted: {cost:?}");
    }
}
