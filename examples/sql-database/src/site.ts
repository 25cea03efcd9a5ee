import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The address of an instance and the settings of its pod. */
export interface Site {
  readonly url: string
  readonly port: number
  readonly command: readonly string[]
  readonly podAnnotations: Readonly<Record<string, string>>
}

/** The database that an instance belongs to. */
export interface DatabaseName {
  readonly name: string
  readonly namespace: string
}

/** Assigns addresses to the instances of a database. Deterministic. */
export type Sites = (database: DatabaseName, ordinal: number) => Site

/** The name of an instance, of its pod and of its Service. */
export const instanceName = ({ name }: { readonly name: string }, ordinal: number): string => `${name}-${ordinal}`

/** Instances in pods, addressed by the DNS names of their Services. */
export const podSites: Sites = (database, ordinal) => ({
  url: `http://${instanceName(database, ordinal)}.${database.namespace}.svc:5433`,
  port: 5433,
  command: ['log-store', '--host=0.0.0.0', '--port=5433', '--data=/var/lib/log-store'],
  podAnnotations: {},
})

const server = fileURLToPath(new URL('server.ts', import.meta.url))

/** Instances that are processes on this machine: pods of simulated nodes that run their command as a real process. */
export function localSites({ folder, firstPort }: { readonly folder: string; readonly firstPort: number }): Sites {
  return (database, ordinal) => {
    const port = firstPort + ordinal
    const data = join(folder, database.namespace, instanceName(database, ordinal))
    return {
      url: `http://127.0.0.1:${port}`,
      port,
      command: [process.execPath, '--import', 'tsx', server, '--host=127.0.0.1', `--port=${port}`, `--data=${data}`],
      podAnnotations: { 'kubewright.dev/process': 'true' },
    }
  }
}
