export default { input: "openapi.json", output: { path: "tenant-auth", module: { extension: ".js" } } };
