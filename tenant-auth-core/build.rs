//! Packs the OpenAPI document for the program: 29 KB instead of 576.

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(all(feature = "service", feature = "http"))]
    pack()?;
    Ok(())
}

#[cfg(all(feature = "service", feature = "http"))]
fn pack() -> std::io::Result<()> {
    use std::{env::var_os, fs, io::Write, path::PathBuf};

    use flate2::{Compression, write::GzEncoder};

    println!("cargo::rerun-if-changed=openapi.json");
    let packed = PathBuf::from(var_os("OUT_DIR").unwrap_or_default()).join("openapi.json.gz");
    let mut packer = GzEncoder::new(fs::File::create(packed)?, Compression::best());
    packer.write_all(&fs::read("openapi.json")?)?;
    packer.finish().map(drop)
}
