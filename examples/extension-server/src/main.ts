// Reads on standard input the authority of the proxy, and prints the manifests that register this server:
//   kubectl get configmap -n kube-system extension-apiserver-authentication \
//     -o jsonpath='{.data.requestheader-client-ca-file}' | node main.ts | kubectl apply -f -
import { text } from 'node:stream/consumers'
import { startExtension } from './extension-server.ts'

const extension = await startExtension(await text(process.stdin), Date.now())
const list = { apiVersion: 'v1', kind: 'List', items: extension.manifests }
process.stdout.end(`${JSON.stringify(list, undefined, 2)}\n`)
console.error(`Serving greetings on port ${extension.port}; press Ctrl-C to stop`)
const stop = (): void => void extension[Symbol.asyncDispose]().then(() => process.exit(0))
process.once('SIGINT', stop)
process.once('SIGTERM', stop)
