import { CaughtError, type Clock } from '@kubewright/base'
import {
  type ApiClient,
  type ConfigHost,
  createClient,
  parseKubeconfig,
  resolveContext,
  transportFor,
} from '@kubewright/client'

// Settings that refer to files or programs: with them, the author of a Secret could use those of the operator's pod.
const refused = {
  clusters: ['certificate-authority'],
  users: ['exec', 'auth-provider', 'tokenFile', 'client-certificate', 'client-key'],
} as const

/** Resolves a kubeconfig without access to the machine. */
const noMachine: ConfigHost = {
  env: {},
  home: '/',
  readFile: (path) => Promise.reject(new CaughtError(`no file can be read: ${path}`)),
  run: ({ command }) => Promise.reject(new CaughtError(`no program can be run: ${command}`)),
}

/** Returns a client of the current context of a kubeconfig, which must not refer to files or programs. */
export function connectSelfContained(text: string, source: string, clock: Clock): ApiClient {
  const kubeconfig = parseKubeconfig(text, source)
  for (const part of ['clusters', 'users'] as const) {
    for (const entry of kubeconfig[part].values()) {
      const field = refused[part].find((name) => entry.has(name))
      if (field !== undefined) {
        throw entry.error(field, 'a kubeconfig in a Secret must be self-contained: embed certificates and a token')
      }
    }
  }
  const config = resolveContext(kubeconfig, {}, { host: noMachine, clock })
  const { credentials, impersonate, namespace } = config
  const transport = transportFor(config, { clock })
  return createClient({ transport, credentials, impersonate, namespace, listNamespace: '', clock })
}
