// Records what a running kube-apiserver states about its release, for `npm run generate -- --recording FOLDER`:
//   npm run record -- KUBECONFIG FOLDER
// The server should have a new, empty store and no flags that turn features or APIs on or off. The user must be an administrator.
import { connect } from '../packages/client/src/index.ts'
import { recordServer } from './record/record-server.ts'

const [kubeconfig, folder] = process.argv.slice(2)
if (kubeconfig === undefined || folder === undefined) throw new Error('Usage: npm run record -- KUBECONFIG FOLDER')

await using client = await connect({ kubeconfig })
const version = await recordServer(client, folder)
console.log(`${version} is recorded in ${folder}`)
