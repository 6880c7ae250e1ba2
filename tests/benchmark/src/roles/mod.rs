//! What the benchmark's other processes do. Each reads what it is told from its standard input, and ends with it.

mod bare;
mod hashing;
mod races;
mod service;

use std::{
    io::{BufRead, Read, Write},
    net::{Ipv4Addr, SocketAddr},
};

use axum::{extract::connect_info::IntoMakeServiceWithConnectInfo, serve::ListenerExt};
use clap::ValueEnum;
use serde::{Serialize, de::DeserializeOwned};
use tokio::net::TcpListener;

use crate::Failure;
pub(crate) use bare::Told as BareTold;
pub(crate) use hashing::Told as HashingTold;
pub(crate) use races::{Found as RacesFound, Told as RacesTold};

/// A process of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// The service in the axum adapter.
    Service,
    /// The same, on both cores.
    Roomy,
    /// An axum endpoint that decides nothing.
    Bare,
    /// Hashes passwords, and nothing else.
    Hashing,
    /// Lets admins remove each other.
    Races,
}

impl Role {
    /// Whether it has both cores, and not the servers' alone.
    pub(crate) fn is_on_both(self) -> bool {
        matches!(self, Self::Races | Self::Roomy)
    }
}

/// Plays a role to its end.
pub(crate) fn play(role: Role) -> Result<(), Failure> {
    match role {
        Role::Hashing => hashing::play(),
        Role::Bare => runtime()?.block_on(bare::play()),
        Role::Service | Role::Roomy => runtime()?.block_on(service::play()),
        Role::Races => runtime()?.block_on(races::play()),
    }
}

/// As many threads as the process has cores.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// The first line.
fn told<T: DeserializeOwned>() -> Result<T, Failure> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

fn answer(value: &impl Serialize) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(value)?)?;
    Ok(out.flush()?)
}

/// Serves on a free port until the standard input ends.
async fn serve(app: axum::Router) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    let app: IntoMakeServiceWithConnectInfo<_, SocketAddr> = app.into_make_service_with_connect_info();
    tokio::spawn(async move { axum::serve(listener, app).await });
    answer(&address)?;
    tokio::task::spawn_blocking(|| std::io::stdin().lock().read_to_end(&mut Vec::new())).await??;
    Ok(())
}
