//! Makes the stored realms equal to the declared ones, all or nothing. Planned twice: outside of any
//! transaction to know what must be hashed and made, and inside the one that writes, so that what is
//! done is what the rows then ask for.

use super::prepare::{AllPrepared, Prepared, covers, prepare, settings};
use super::rows::Writer;
use super::{Failure, Input, Mode, Report, load, people};
use crate::domain::model::audit::AuditKind;
use crate::domain::model::realm::Realm;
use crate::domain::protocol::key_schedule;
use crate::domain::realm_file::{
    self, Change, Fault, Options, Plan, StoredRealm, WantedRealm, check_reachable, check_set,
};
use crate::service::admin::{Scribe, client, key};
use crate::service::{App, Error, replay, subject};
use crate::store::{self, Source, Tx, repo};

/// A plan with the facts it was made from.
pub(super) struct Planned {
    pub(super) stored: StoredRealm,
    pub(super) plan: Plan,
}

/// How often a plan is made anew because somebody else wrote meanwhile.
const ATTEMPTS: usize = 3;

/// Applies declared realms. References to secrets must have been resolved.
///
/// # Errors
/// Every fault of what is declared, or why the store could not do it; then nothing was written.
pub async fn apply(app: &App, input: &Input) -> Result<Report, Failure> {
    let mut faults = check_set(&input.realms);
    faults.extend(check_reachable(&input.realms, app.config.server.public_url.as_str()));
    if !faults.is_empty() {
        return Err(Failure::Faults(faults));
    }
    let mut planned = plan_all(app, &app.store.read(), input).await?;
    if input.mode == Mode::DryRun || planned.iter().all(|planned| planned.plan.acts.is_empty()) {
        return Ok(report(planned, input.mode));
    }
    let mut prepared = AllPrepared::new();
    for _ in 0..ATTEMPTS {
        prepare(app, input, &planned, &mut prepared).await?;
        let mut tx = app.store.begin().await?;
        planned = plan_all(app, &tx, input).await?;
        if !planned.iter().all(|planned| covers(&prepared, planned)) {
            continue;
        }
        for planned in &planned {
            let Some(prepared) = prepared.get_mut(&planned.plan.realm) else { continue };
            write(app, &mut tx, planned, prepared).await.map_err(|error| told(error, input))?;
        }
        tx.commit().await.map_err(|error| told(error, input))?;
        remember(app, &planned).await?;
        return Ok(report(planned, Mode::Write));
    }
    Err(Error::Internal("the realm kept changing while it was planned; run apply again".to_owned()).into())
}

/// New realms begin to remember what was used once.
async fn remember(app: &App, planned: &[Planned]) -> Result<(), Error> {
    for planned in planned.iter().filter(|planned| planned.stored.realm.is_none()) {
        if let Some(realm) = repo::realm::find_by_name(&app.store.read(), &planned.plan.realm).await? {
            replay::prepare(app, realm.id, app.clock.now()).await?;
        }
    }
    Ok(())
}

fn report(planned: Vec<Planned>, mode: Mode) -> Report {
    Report { plans: planned.into_iter().map(|planned| planned.plan).collect(), mode }
}

/// A clash that the plan could not see: somebody outside of it holds the name.
fn told(error: store::Error, input: &Input) -> Failure {
    let store::Error::Conflict(what) = error else { return error.into() };
    Failure::Faults(vec![Fault {
        file: input.realms.first().map(|realm| realm.file.clone()).unwrap_or_default(),
        line: 0,
        object: what.to_owned(),
        field: String::new(),
        message: "is already taken by an object that the file does not name".to_owned(),
    }])
}

async fn plan_all(app: &App, source: &impl Source, input: &Input) -> Result<Vec<Planned>, Failure> {
    let mut planned = Vec::with_capacity(input.realms.len());
    let mut faults = Vec::new();
    for declared in &input.realms {
        let mut stored = load::for_plan(source, declared, input.prune).await?;
        if let Some(realm) = &stored.realm {
            stored.pairwise_key = subject::stored_key(app, realm)?;
        }
        let realm = stored.realm.clone();
        let holds = |stored: &crate::domain::model::client::Client, secret: &_| {
            realm.as_ref().is_some_and(|realm| {
                let hash = client::secret_hash(&app.sealer, realm, secret);
                stored.secrets.first().is_some_and(|newest| newest.hash == hash)
            })
        };
        match realm_file::plan(&stored, declared, Options { prune: input.prune, holds: &holds }) {
            Ok(plan) => planned.push(Planned { stored, plan }),
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() { Ok(planned) } else { Err(Failure::Faults(faults)) }
}

async fn write(app: &App, tx: &mut Tx, planned: &Planned, prepared: &mut Prepared) -> Result<(), store::Error> {
    if planned.plan.acts.is_empty() {
        return Ok(());
    }
    let now = app.clock.now();
    let wanted = planned.plan.acts.iter().find_map(|act| match &act.change {
        Change::PutRealm(wanted) => Some(&**wanted),
        _ => None,
    });
    let realm = put_realm(app, tx, planned.stored.realm.as_ref(), wanted, prepared).await?;
    let scribe = Scribe::operator(app, realm.id, now);
    repo::audit::append(tx, &scribe.audit(AuditKind::RealmApplied)).await?;
    if let Some(settings) = settings(planned) {
        let keys = repo::key::list(&*tx, realm.id).await?;
        let acts = key_schedule::plan(&keys, &settings.keys, now, key::longest_token(settings));
        key::carry_out(tx, &scribe, keys, &acts, &mut prepared.keys).await?;
    }
    let mut writer = Writer::new(app, &realm, scribe, &planned.stored);
    writer.make_rows_for_roles(tx, &planned.plan.acts).await?;
    people::release_names(tx, &scribe, &planned.stored, &planned.plan.acts).await?;
    for act in &planned.plan.acts {
        match &act.change {
            Change::PutResource(wanted) => writer.put_resource(tx, wanted).await?,
            Change::PutScope(wanted) => writer.put_scope(tx, wanted).await?,
            // Written before: everything else hangs on the realm, and roles may belong to clients.
            Change::PutRealm(_) | Change::PutClient(_) => {}
            Change::PutRole(wanted) => writer.put_role(tx, wanted).await?,
            Change::PutGroup(wanted) => writer.put_group(tx, wanted).await?,
            Change::PutUser(wanted) => {
                let facts = people::Facts { stored: &planned.stored, act, hashes: &prepared.hashes };
                people::put(tx, &writer, facts, wanted).await?;
            }
            Change::DeleteUser(id) => people::delete(tx, &scribe, *id).await?,
            Change::DeleteGroup(id) => repo::group::delete(tx, realm.id, *id).await?,
            Change::DeleteRole(id) => repo::role::delete(tx, realm.id, *id).await?,
            Change::DeleteClient(key) => writer.delete_client(tx, *key).await?,
            Change::DeleteResource(id) => repo::resource::delete(tx, realm.id, *id).await?,
            Change::DeleteScope(id) => repo::scope::delete(tx, realm.id, *id).await?,
        }
    }
    Ok(())
}

async fn put_realm(
    app: &App,
    tx: &mut Tx,
    stored: Option<&Realm>,
    wanted: Option<&WantedRealm>,
    prepared: &Prepared,
) -> Result<Realm, store::Error> {
    let id = stored.map(|realm| realm.id).or(prepared.id);
    let Some(id) = id else { return Err(store::Error::Other("a realm without an id".to_owned())) };
    let Some(wanted) = wanted else {
        return stored.cloned().ok_or_else(|| store::Error::Other("a realm that is neither stored nor new".to_owned()));
    };
    let realm = Realm {
        id,
        name: wanted.name.clone(),
        display_name: wanted.display_name.clone(),
        enabled: wanted.enabled,
        issuer: wanted.issuer.clone(),
        restore_epoch: stored.map_or(0, |realm| realm.restore_epoch),
        pairwise_key: stored.and_then(|realm| realm.pairwise_key.clone()),
        settings: wanted.settings.clone(),
    };
    if stored.is_some() {
        repo::realm::update(tx, &realm).await?;
    } else {
        repo::realm::insert(tx, &realm).await?;
    }
    if let Some(key) = &wanted.pairwise_key {
        let sealed = subject::seal_key(app, id, key);
        if repo::realm::keep_pairwise_key(tx, id, &sealed).await? != Some(sealed) {
            // Somebody signed in at a pairwise client while this was planned.
            return Err(store::Error::Conflict("pairwise_key_encrypted"));
        }
    }
    Ok(realm)
}
