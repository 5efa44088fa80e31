//! The gate: verdicts, foreign hashes, admission, deadlines; the policy of B-46.

use std::sync::Arc;
use std::time::{Duration, Instant};

use doorward::clock::SystemClock;
use doorward::domain::model::realm::PasswordPolicy;
use doorward::domain::model::secret::Secret;
use doorward::entropy::SystemEntropy;
use doorward::password::{GateError, GateSettings, PasswordGate, PolicyFault, Verdict, calibrate, normalise, policy};

const CHEAP: GateSettings = GateSettings {
    memory_kib: 64,
    iterations: 1,
    parallelism: 1,
    workers: Some(2),
    queue: Some(1000),
    deadline: Duration::from_secs(20),
};

fn gate(settings: GateSettings) -> PasswordGate {
    PasswordGate::start(settings, Arc::new(SystemEntropy)).unwrap()
}

async fn verdict(gate: &PasswordGate, password: &str, phc: &str) -> (bool, bool) {
    let Verdict { matches, needs_rehash } = gate.verify(Secret::from(password), Some(phc.to_owned())).await.unwrap();
    (matches, needs_rehash)
}

#[tokio::test]
async fn a_password_is_hashed_and_verified() {
    let gate = gate(CHEAP);
    let phc = gate.hash(Secret::from("correct horse battery")).await.unwrap();
    assert!(phc.starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{phc}");
    assert_eq!(verdict(&gate, "correct horse battery", &phc).await, (true, false));
    for wrong in ["correct horse battery ", " correct horse battery", "Correct horse battery", ""] {
        assert_eq!(verdict(&gate, wrong, &phc).await, (false, false), "{wrong:?}");
    }
    // The same characters from a keyboard that composes.
    let composed = gate.hash(Secret::from("caf\u{e9} caf\u{e9} caf\u{e9}")).await.unwrap();
    assert_eq!(verdict(&gate, "cafe\u{301} cafe\u{301} cafe\u{301}", &composed).await, (true, false));
    assert_ne!(phc, gate.hash(Secret::from("correct horse battery")).await.unwrap(), "a salt of its own");
}

#[tokio::test]
async fn nothing_matches_the_decoy_or_an_unreadable_hash() {
    let gate = gate(CHEAP);
    let none = gate.verify(Secret::from("x"), None).await.unwrap();
    assert_eq!(none, Verdict { matches: false, needs_rehash: false });
    for junk in [
        "",
        "x",
        "$2b$12$abcdefghijklmnopqrstuuu",
        "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0",
        "$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
        "$argon2id$v=19$m=64,t=1000000,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
    ] {
        assert_eq!(verdict(&gate, "x", junk).await, (false, false), "{junk}");
    }
    let phc = gate.hash(Secret::from("x")).await.unwrap();
    assert_eq!(verdict(&gate, &"x".repeat(100_000), &phc).await, (false, false), "too long is only wrong");
}

#[tokio::test]
async fn other_parameters_match_and_ask_for_a_new_hash() {
    // The reference implementation's: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
    let known = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
    let gate = gate(CHEAP);
    assert_eq!(verdict(&gate, "password", known).await, (true, true));
    assert_eq!(verdict(&gate, "passwore", known).await, (false, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_at_once_and_serves_the_rest() {
    let gate = gate(GateSettings { memory_kib: 4096, iterations: 2, workers: Some(1), queue: Some(3), ..CHEAP });
    let attempts: Vec<_> = (0..40)
        .map(|_| {
            let gate = gate.clone();
            tokio::spawn(async move {
                let begun = Instant::now();
                (gate.verify(Secret::from("x"), None).await, begun.elapsed())
            })
        })
        .collect();
    let (mut served, mut refused) = (0, 0);
    for attempt in attempts {
        match attempt.await.unwrap() {
            (Ok(_), _) => served += 1,
            (Err(GateError::Busy { retry_after }), took) => {
                refused += 1;
                assert!((1..60).contains(&retry_after.as_secs()), "{retry_after:?}");
                assert!(took < Duration::from_secs(2), "{took:?}");
            }
            (Err(error), _) => panic!("{error}"),
        }
    }
    assert!((3..=10).contains(&served), "{served} served, {refused} refused");
    assert!(gate.check().is_ok(), "the queue is empty again");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_waits_for_is_not_hashed() {
    let gate = gate(GateSettings { memory_kib: 4096, iterations: 3, workers: Some(1), ..CHEAP });
    let begun = Instant::now();
    gate.verify(Secret::from("x"), None).await.unwrap();
    let one = begun.elapsed();
    let gone: Vec<_> = (0..60)
        .map(|_| {
            tokio::spawn({
                let gate = gate.clone();
                async move { gate.verify(Secret::from("x"), None).await }
            })
        })
        .collect();
    tokio::task::yield_now().await;
    for task in gone {
        task.abort();
        drop(task.await);
    }
    let begun = Instant::now();
    gate.verify(Secret::from("x"), None).await.unwrap();
    assert!(begun.elapsed() < one * 30, "sixty abandoned hashes would take sixty times {one:?}");
}

#[tokio::test]
async fn a_deadline_shorter_than_one_hash_refuses() {
    let settings = GateSettings {
        memory_kib: 16384,
        iterations: 8,
        workers: Some(1),
        deadline: Duration::from_millis(1),
        ..CHEAP
    };
    let gate = gate(settings);
    let first = tokio::spawn({
        let gate = gate.clone();
        async move { gate.verify(Secret::from("x"), None).await }
    });
    tokio::task::yield_now().await;
    let second = gate.verify(Secret::from("x"), None).await;
    assert!(matches!(second, Err(GateError::Busy { .. })), "{second:?}");
    drop(first.await);
}

#[test]
fn the_policy_is_length_alone() {
    let twelve = PasswordPolicy::default();
    assert_eq!(policy::check("elevenchars", &twelve), Err(PolicyFault::TooShort { min: 12 }));
    assert_eq!(policy::check("            ", &twelve).as_deref(), Ok("            "), "no trimming");
    assert_eq!(policy::check("e\u{301}levenchars", &twelve), Err(PolicyFault::TooShort { min: 12 }), "counted as NFC");
    assert!(policy::check(&"x".repeat(256), &twelve).is_ok());
    assert_eq!(policy::check(&"x".repeat(257), &twelve), Err(PolicyFault::TooLong));
    assert!(normalise(&"\u{1f511}".repeat(256)).is_ok(), "1024 bytes");
    assert_eq!(normalise(&"\u{1f511}".repeat(257)), Err(PolicyFault::TooLong));
    assert_eq!(normalise(&"x".repeat(1_000_000)), Err(PolicyFault::TooLong));
}

#[test]
fn calibration_measures_the_five_sets() {
    let sets = calibrate(&SystemClock::new(), Duration::from_millis(1));
    let listed: Vec<_> = sets.iter().map(|set| (set.memory_kib / 1024, set.iterations)).collect();
    assert_eq!(listed, [(46, 1), (19, 2), (12, 3), (9, 4), (7, 5)]);
    assert!(sets.iter().all(|set| set.logins_per_second > 0.0 && set.per_hash > Duration::ZERO));
}
