//! The command line.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use serde_json::{Map, Value};

/// Brings InfiniBand hosts into the state that a document describes.
#[derive(Debug, Parser)]
#[command(name = "ibplan", version, disable_help_subcommand = true)]
pub(crate) struct Args {
    /// Colours in the output
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Also in a pipe
    Always,
    /// Not even on a terminal
    Never,
}

impl Color {
    pub(crate) const fn choice(self) -> anstream::ColorChoice {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check documents by themselves, without a host
    Validate {
        /// Documents in YAML or JSON; `-` is standard input
        #[arg(required = true)]
        files: Vec<String>,
        /// One JSON object for each file
        #[arg(long)]
        json: bool,
    },
    /// Show what would be done
    Plan(Looking),
    /// Do it
    Apply(Applying),
    /// Check whether the host is as the document says
    Verify(Looking),
    /// Show what the host is
    Facts(Hosted),
    /// Take a transaction back, and those after it
    Rollback(TakingBack),
    /// List the last transactions
    Last(Stored),
    /// Pack what ibplan reads of this host into a folder, for a bug report or a test
    Capture(Capturing),
    /// Print a JSON Schema
    Schema {
        /// Which
        #[arg(value_enum, default_value_t = Schema::Host)]
        which: Schema,
    },
    /// Explain the code of an error or warning; without one, list them
    Explain {
        /// Such as ipoib.mtu_above_fabric
        code: Option<String>,
    },
}

/// The schemas.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Schema {
    /// The host document
    Host,
    /// The request of an agent program
    Request,
    /// Its response
    Response,
}

/// Options of every command that asks a host.
#[derive(Debug, ClapArgs)]
pub(crate) struct Hosted {
    /// The root folder: another than / is an image, whose persistent side alone is managed
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<String>,
    /// Take the live side that was recorded in a captured host as live
    #[arg(long)]
    pub(crate) replay: bool,
    /// Seconds that the whole run may take
    #[arg(long, value_name = "SECONDS")]
    pub(crate) deadline: Option<String>,
    /// Seconds to wait for another run
    #[arg(long, value_name = "SECONDS")]
    pub(crate) lock_timeout: Option<String>,
    /// Print the response of the protocol, as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of commands that compare a document with a host.
#[derive(Debug, ClapArgs)]
pub(crate) struct Looking {
    /// The document in YAML or JSON; `-` is standard input
    pub(crate) file: String,
    /// Also remove what has left the document, and give the originals back
    #[arg(long)]
    pub(crate) prune: bool,
    #[command(flatten)]
    pub(crate) hosted: Hosted,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Applying {
    #[command(flatten)]
    pub(crate) looking: Looking,
    /// What happens to the finished steps when one fails
    #[arg(long, value_enum)]
    pub(crate) on_failure: Option<OnFailure>,
}

/// See the option.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OnFailure {
    /// They are taken back
    Rollback,
    /// They are kept
    Keep,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Stored {
    /// The transaction; default: the newest
    #[arg(long, value_name = "NUMBER")]
    pub(crate) transaction: Option<String>,
    #[command(flatten)]
    pub(crate) hosted: Hosted,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TakingBack {
    #[command(flatten)]
    pub(crate) stored: Stored,
    /// With `keep`, what cannot be taken back stays as it is, and the transaction is closed
    #[arg(long, value_enum)]
    pub(crate) on_failure: Option<OnFailure>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Capturing {
    /// The folder to write
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: String,
    /// Replace names and addresses
    #[arg(long)]
    pub(crate) scrub: bool,
    #[command(flatten)]
    pub(crate) hosted: Hosted,
}

/// The option of the command line for an option of the request, where both are there.
pub(crate) const FLAGS: &[(&str, &str)] = &[
    ("root", "--root"),
    ("replay", "--replay"),
    ("deadline_s", "--deadline"),
    ("lock_timeout_s", "--lock-timeout"),
    ("prune", "--prune"),
    ("on_failure", "--on-failure"),
    ("transaction", "--transaction"),
    ("output", "--output"),
    ("scrub", "--scrub"),
];

impl Hosted {
    /// The options of a request. Ranges are the request's business.
    pub(crate) fn options(&self) -> Map<String, Value> {
        let mut map = Map::new();
        text(&mut map, "root", self.root.as_deref().map(absolute).as_ref());
        text(&mut map, "deadline_s", self.deadline.as_ref());
        text(&mut map, "lock_timeout_s", self.lock_timeout.as_ref());
        flag(&mut map, "replay", self.replay);
        map
    }
}

impl Looking {
    pub(crate) fn options(&self) -> Map<String, Value> {
        let mut map = self.hosted.options();
        flag(&mut map, "prune", self.prune);
        map
    }
}

impl Applying {
    pub(crate) fn options(&self) -> Map<String, Value> {
        with_failure(self.looking.options(), self.on_failure)
    }
}

impl TakingBack {
    pub(crate) fn options(&self) -> Map<String, Value> {
        with_failure(self.stored.options(), self.on_failure)
    }
}

fn with_failure(mut map: Map<String, Value>, on_failure: Option<OnFailure>) -> Map<String, Value> {
    if let Some(word) = on_failure.and_then(|o| o.to_possible_value()) {
        map.insert("on_failure".to_owned(), word.get_name().into());
    }
    map
}

impl Stored {
    pub(crate) fn options(&self) -> Map<String, Value> {
        let mut map = self.hosted.options();
        text(&mut map, "transaction", self.transaction.as_ref());
        map
    }
}

impl Capturing {
    pub(crate) fn options(&self) -> Map<String, Value> {
        let mut map = self.hosted.options();
        text(&mut map, "output", Some(&absolute(&self.output)));
        flag(&mut map, "scrub", self.scrub);
        map
    }
}

/// People name folders from where they are; the request names them from the top. What cannot be resolved stays as it is
/// and is refused with its own name.
fn absolute(folder: &str) -> String {
    let whole = std::fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
    whole
        .ok()
        .and_then(|p| p.into_os_string().into_string().ok())
        .unwrap_or_else(|| folder.to_owned())
}

fn text(map: &mut Map<String, Value>, name: &str, value: Option<&String>) {
    if let Some(value) = value {
        map.insert(name.to_owned(), value.as_str().into());
    }
}

fn flag(map: &mut Map<String, Value>, name: &str, value: bool) {
    if value {
        map.insert(name.to_owned(), true.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
