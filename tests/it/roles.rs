//! Roles and groups as tokens tell them: of people, and of clients that act for themselves. Whatever changes is
//! seen at once, on every node; a user and a service account never have one `sub`.

use serde_json::{Value, json};

use crate::kit::flow::{API, Client, WEB, decode, introspect, post_as, refresh, text, userinfo};
use crate::kit::op::Op;
use crate::kit::token::{db_user, given, signed_in_with, verified};

/// A service whose role brings another one along.
const SERVICE: &str = r#"
realm: main
roles:
  - { name: exporter, composites: [ reader ] }
clients:
  - client_id: api
    scope: "read roles groups"
    service_account_roles: [ exporter ]
"#;

async fn start() -> Op {
    let op = Op::start().await;
    op.apply(SERVICE).await;
    op
}

async fn own(op: &Op, client: Client, scope: &str) -> Value {
    let fields = [("grant_type", "client_credentials"), ("scope", scope)];
    given(&post_as(op, client, "/token", &fields).await)
}

#[tokio::test]
async fn a_service_account_has_its_roles_in_its_token_where_the_scope_asks_for_them() {
    let op = start().await;
    let tokens = own(&op, API, "read roles").await;
    let (_, claims) = verified(&op, text(&tokens, "access_token")).await;
    assert_eq!((&claims["sub"], &claims["roles"]), (&json!("api"), &json!(["exporter", "reader"])));
    assert!(claims.get("groups").is_none(), "a client is in no group: {claims}");
    let seen = introspect(&op, API, text(&tokens, "access_token")).await;
    assert_eq!((&seen["sub"], &seen["roles"]), (&json!("api"), &json!(["exporter", "reader"])));
    // Asked for less, told less; without a scope, everything registered.
    let tokens = own(&op, API, "read").await;
    assert!(decode(text(&tokens, "access_token")).1.get("roles").is_none());
    assert!(introspect(&op, API, text(&tokens, "access_token")).await.get("roles").is_none());
    let tokens = own(&op, API, "").await;
    assert_eq!(decode(text(&tokens, "access_token")).1["roles"], json!(["exporter", "reader"]));
    // Who was given none has none, whatever people have.
    let tokens = own(&op, WEB, "roles groups").await;
    let claims = decode(text(&tokens, "access_token")).1;
    assert_eq!((&claims["roles"], claims.get("groups")), (&json!([]), None));
}

#[tokio::test]
async fn an_opaque_one_tells_them_by_introspection() {
    let op = start().await;
    op.apply("realm: main\nclients:\n  - { client_id: api, access_token_format: opaque }\n").await;
    let tokens = own(&op, API, "roles").await;
    assert_eq!(introspect(&op, API, text(&tokens, "access_token")).await["roles"], json!(["exporter", "reader"]));
}

#[tokio::test]
async fn a_change_of_a_service_accounts_roles_is_seen_at_once_on_every_node() {
    let op = start().await;
    let other = Op::builder().beside(&op).start().await;
    let first = own(&op, API, "roles").await;
    for (change, roles) in [
        ("display_name: Acme", json!(["exporter", "reader"])),
        ("roles: [{ name: exporter, composites: [editor] }]", json!(["editor", "exporter"])),
        ("roles: [{ name: editor, composites: [reader] }]", json!(["editor", "exporter", "reader"])),
        ("clients: [{ client_id: api, service_account_roles: [reader] }]", json!(["reader"])),
        ("clients: [{ client_id: api, service_account_roles: [] }]", json!([])),
    ] {
        op.apply(&format!("realm: main\n{change}\n")).await;
        other.poll().await;
        for node in [&op, &other] {
            let tokens = own(node, API, "roles").await;
            assert_eq!(decode(text(&tokens, "access_token")).1["roles"], roles, "after {change}");
            let seen = introspect(node, API, text(&first, "access_token")).await;
            assert_eq!(seen["roles"], roles, "introspection tells what is so now: {change}");
        }
    }
}

#[tokio::test]
async fn a_role_that_the_realm_has_no_more_is_refused_and_dropped() {
    let op = start().await;
    let told = op.try_apply("realm: main\nclients: [{ client_id: api, service_account_roles: [exportre] }]").await;
    assert!(told.expect_err("no such role").contains("did you mean exporter?"));
    // The file without the role says so where a client still has it, and takes it from both together.
    let without = crate::kit::op::REALM.replace("    scope: \"read\"\n", "    scope: \"read roles\"\n");
    let told = pruned(&op, &without).await.expect_err("a client still has the role");
    assert!(told.contains("client api") && told.contains("there is no role exporter"), "{told}");
    let taken = without.replacen(
        "    scope: \"read roles\"\n",
        "    scope: \"read roles\"\n    service_account_roles: []\n",
        1,
    );
    pruned(&op, &taken).await.expect("applied");
    let tokens = own(&op, API, "roles").await;
    assert_eq!(decode(text(&tokens, "access_token")).1["roles"], json!([]));
}

async fn pruned(op: &Op, file: &str) -> Result<(), String> {
    use doorward::service::realm_file::{Input, Mode, apply};
    let realms = doorward::domain::realm_file::parse("test.yaml", file).expect("a good file");
    let done = apply(&op.app, &Input { realms, prune: true, mode: Mode::Write }).await;
    done.map(drop).map_err(|failure| failure.to_string())
}

#[tokio::test]
async fn a_persons_roles_and_groups_stand_in_userinfo_token_and_introspection_by_scope() {
    let op = start().await;
    op.apply(
        "realm: main\nroles: [{ name: chief, composites: [editor] }]\ngroups: [{ name: staff, roles: [reader], groups: \
         [{ name: night, roles: [] }] }]\nusers: [{ username: alice, roles: [chief], groups: [/staff/night] }]\n",
    )
    .await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid roles groups").await;
    let access = text(&tokens, "access_token");
    // Composites come along, and so do the roles of the group above.
    let (roles, groups) = (json!(["chief", "editor", "reader"]), json!(["/staff/night"]));
    for told in [userinfo(&op, access).await.json(), verified(&op, access).await.1, introspect(&op, WEB, access).await]
    {
        assert_eq!((&told["roles"], &told["groups"]), (&roles, &groups), "{told}");
    }
    let tokens = signed_in_with(&op, &mut op.browser(), "openid").await;
    let access = text(&tokens, "access_token");
    for told in [userinfo(&op, access).await.json(), decode(access).1, introspect(&op, WEB, access).await] {
        assert!(told.get("roles").is_none() && told.get("groups").is_none(), "{told}");
    }
}

#[tokio::test]
async fn a_change_of_a_persons_roles_is_seen_by_introspection_and_in_the_next_token_at_once() {
    let op = start().await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid roles offline_access").await;
    op.apply("realm: main\nusers: [{ username: alice, roles: [], groups: [] }]\n").await;
    assert_eq!(introspect(&op, WEB, text(&tokens, "access_token")).await["roles"], json!([]));
    let next = given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
    assert_eq!(decode(text(&next, "access_token")).1["roles"], json!([]));
}

#[tokio::test]
async fn a_users_sub_and_a_client_id_are_never_the_same() {
    let op = Op::start().await;
    let told = op.try_apply("realm: main\nusers: [{ username: carol, sub: api }]\n").await.expect_err("a client's");
    assert!(told.contains("user carol: sub") && told.contains("is the client_id of a client"), "{told}");
    let sub = db_user(&op, "alice").await.sub;
    let client = |id: &str| {
        format!(
            "realm: main\nclients:\n  - {{ client_id: \"{id}\", client_secret: \"0123456789abcdef\", grant_types: \
                 [client_credentials], redirect_uris: [], response_types: [] }}\n"
        )
    };
    let told = op.try_apply(&client(&sub)).await.expect_err("alice's");
    assert!(told.contains("client_id") && told.contains("is the sub of the user alice"), "{told}");
    // Both new, in one file.
    let both = format!("{}users: [{{ username: carol, sub: batch }}]\n", client("batch"));
    let told = op.try_apply(&both).await.expect_err("one sub for two");
    assert!(told.contains("user carol: sub"), "{told}");
    op.try_apply(&client("batch")).await.expect("nobody's");
}
