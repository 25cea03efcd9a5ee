// The program behind those that `kubewright envtest use` writes. Its arguments are `etcd` and flags of etcd, or `kube-apiserver`, a version of
// Kubernetes and flags of kube-apiserver.
import { fileURLToPath } from 'node:url'
import { codeCacheFolder, loadProgram } from './load-program.ts'

const [name, ...args] = process.argv.slice(2)
if (name === 'etcd') {
  const { runEtcdProgram } = await import('./etcd-program.ts')
  await runEtcdProgram(args, import.meta.url)
} else {
  const [version = '', ...flags] = args
  // `npm run build` bundles the program of `up`. The sources have none.
  const file = fileURLToPath(new URL('./up-program.cjs', import.meta.url))
  const bundled = loadProgram<typeof import('./up-program.ts')>(file, codeCacheFolder(process.env, process.platform))
  const { runApiServerProgram } = bundled?.exports ?? (await import('./up-program.ts'))
  await runApiServerProgram(version, flags, import.meta.url, bundled?.save)
}
