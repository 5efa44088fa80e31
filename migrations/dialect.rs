//! The words in which the two databases differ, and nothing else. Each migration is one SQL text with these
//! words in braces, so that a schema is read as what it is:
//!
//! | word | SQLite | PostgreSQL |
//! | --- | --- | --- |
//! | `{id}` | sixteen bytes | `uuid` |
//! | `{bytes}` | `blob` | `bytea` |
//! | `{seq}` | a number that is never given twice | identity |
//! | `{clustered}` | the table is its primary key's tree | nothing |
//! | `{roomy}` | nothing | a fifth of each page kept free for HOT updates |
//! | `{xact}` | nothing: one writer commits in order | the writing transaction's id |
//! | `{xact_index}` | nothing | its index, by which the feed reads on |

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

const SQLITE: [(&str, &str); 7] = [
    ("{id}", "blob"),
    ("{bytes}", "blob"),
    ("{seq}", "integer primary key autoincrement"),
    ("{clustered}", " without rowid"),
    ("{roomy}", ""),
    ("{xact}", ""),
    ("{xact_index}", ""),
];

const POSTGRES: [(&str, &str); 7] = [
    ("{id}", "uuid"),
    ("{bytes}", "bytea"),
    ("{seq}", "bigint generated always as identity primary key"),
    ("{clustered}", ""),
    ("{roomy}", " with (fillfactor = 80)"),
    ("{xact}", ",\n    xact xid8 not null default pg_current_xact_id()"),
    ("{xact_index}", ";\ncreate index change_xact on change (xact)"),
];

/// Runs the statements of `text`, which are parted by semicolons, in the database's own words.
pub(crate) async fn run(manager: &SchemaManager<'_>, text: &str) -> Result<(), DbErr> {
    let words = match manager.get_database_backend() {
        DbBackend::Sqlite => SQLITE,
        DbBackend::Postgres => POSTGRES,
        _ => return Err(DbErr::Custom("only SQLite and PostgreSQL are supported".to_owned())),
    };
    let text = words.iter().fold(text.to_owned(), |text, (word, meaning)| text.replace(word, meaning));
    for statement in text.split(';') {
        manager.get_connection().execute_unprepared(statement.trim()).await?;
    }
    Ok(())
}
