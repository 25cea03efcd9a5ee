// Modules of Node that open connections, loaded at first use: an operator that is only imported, and a control plane in the same process,
// need none of them. An import statement would also read all their exports: `http.WebSocket` loads an HTTP client of 13 MiB since Node 22, and
// `tls.rootCertificates` decodes all certificates of Node.
export const crypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto')
export const http = (): typeof import('node:http') => process.getBuiltinModule('node:http')
export const http2 = (): typeof import('node:http2') => process.getBuiltinModule('node:http2')
export const https = (): typeof import('node:https') => process.getBuiltinModule('node:https')
export const net = (): typeof import('node:net') => process.getBuiltinModule('node:net')
export const stream = (): typeof import('node:stream') => process.getBuiltinModule('node:stream')
export const tls = (): typeof import('node:tls') => process.getBuiltinModule('node:tls')
export const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib')
