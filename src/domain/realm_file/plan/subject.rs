//! What a plan changes in how clients know people: to an application a person with another `sub` is another
//! person (OpenID Connect Core 2).

use super::{Act, Change};
use crate::model::client::{Client, ClientMetadata, SubjectType};
use crate::protocol::subject::sector;
use crate::realm_file::declared::DeclaredRealm;
use crate::realm_file::fault::Faults;
use crate::realm_file::stored::StoredRealm;

/// Warns of clients at which every person's `sub` becomes another one.
pub(super) fn warn(stored: &StoredRealm, acts: &[Act], declared: &DeclaredRealm, warnings: &mut Faults) {
    for act in acts {
        let Change::PutClient(wanted) = &act.change else { continue };
        let before = stored.clients.iter().find(|client: &&Client| Some(client.key) == wanted.key);
        if before.is_none_or(|before| knows_by(&before.metadata) == knows_by(&wanted.metadata)) {
            continue;
        }
        let line = declared.clients.iter().flatten().find(|client| client.client_id == wanted.client_id);
        let line = line.map_or(declared.line, |client| client.line);
        warnings.object("client", &wanted.client_id);
        warnings.add(
            line,
            "subject_type",
            "every person's sub at this client becomes another one: to the application they are new people",
        );
    }
}

/// What a `sub` depends on beside the person; `None` = on nothing.
fn knows_by(client: &ClientMetadata) -> Option<Option<String>> {
    (client.subject_type == SubjectType::Pairwise).then(|| sector(client))
}
