//! The command `settings`: every setting with its value and where the value comes from, also when `serve` would refuse to start; a
//! settings file to start from; or the names of the templates of mails. It opens no database and no port.

use clap::Args;
use serde_json::json;
use tenant_auth_core::config::{MAILS, SHARED_VALUES};

use super::report::Format;
use crate::{
    failure::Failure,
    settings::{self, Effective, Input},
};

/// What to print.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Print a settings file (tenant-auth.toml) with every setting as a comment
    #[arg(long)]
    example: bool,
    /// Print the name of every template that may stand in the folder of mail templates, and the values that it is given
    #[arg(long, conflicts_with = "example")]
    templates: bool,
    #[command(flatten)]
    format: Format,
}

impl Options {
    pub(super) fn run(&self, input: &Input) -> Result<(), Failure> {
        if self.example {
            let example = settings::example();
            return self.format.print(&json!({ "example": example }), &example);
        }
        if self.templates {
            let mails: Vec<_> = MAILS.iter().map(|(mail, values)| json!({ "mail": mail, "values": values })).collect();
            return self.format.print(&json!({ "mails": mails, "shared": SHARED_VALUES }), &templates());
        }
        let effective = Effective::of(input);
        self.format.print(&effective, &effective.to_text())?;
        if effective.is_refused() {
            return Err(Failure::Hole("'serve' would not start: see the settings that are refused.".to_owned()));
        }
        Ok(())
    }
}

fn templates() -> String {
    let mut text =
        "Templates are named <mail>.<language>.html, .txt and .subject, such as invite.de.html. Each is given (? = or none):\n\n"
            .to_owned();
    let mut line = |name: &str, values: &[&str]| {
        text.push_str(&format!("{name:25}{}\n", values.join(" ")));
    };
    line("every mail", &SHARED_VALUES);
    for (mail, values) in MAILS {
        line(mail, values);
    }
    text.push_str("\nThey may include product.html, support.html and support.txt.\n");
    text
}
