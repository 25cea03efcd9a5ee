// Serves greetings until it is stopped. The first argument is a file with the CA of the aggregating server, the second
// one is the file to write the manifests to that register this server.
import { readFile, writeFile } from 'node:fs/promises'
import { startExtension } from './extension-server.ts'

const [authority, manifests] = process.argv.slice(2)
if (authority === undefined || manifests === undefined) {
  console.error('Usage: main.ts AUTHORITY MANIFESTS')
  process.exit(2)
}
const extension = await startExtension(await readFile(authority, 'utf8'), Date.now())
const list = { apiVersion: 'v1', kind: 'List', items: extension.manifests }
await writeFile(manifests, `${JSON.stringify(list, undefined, 2)}\n`)
console.log(`Serving greetings on port ${extension.port}: kubectl apply -f ${manifests}; press Ctrl-C to stop`)
const stop = (): void => void extension[Symbol.asyncDispose]().then(() => process.exit(0))
process.once('SIGINT', stop)
process.once('SIGTERM', stop)
