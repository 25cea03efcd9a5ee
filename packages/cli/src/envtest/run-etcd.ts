import { createServer, type Server } from 'node:http'
import { errorText, KubewrightError, UsageError } from '@kubewright/base'
import type { CommandContext } from '../command/command-context.ts'
import { aborted } from '../terminal/aborted.ts'
import { flagValues } from './flag-values.ts'

/** The flags of etcd that have an effect. All others are accepted and ignored. */
export const etcdFlagNames: readonly string[] = ['listen-client-urls']

/**
 * Answers the health checks of the programs that start etcd beside kube-apiserver, until interrupted. It stores nothing: the objects are in
 * the API server.
 */
export async function runEtcd(args: readonly string[], { signal, out }: CommandContext): Promise<number> {
  const given = flagValues(args).get('listen-client-urls')?.at(-1) ?? 'http://localhost:2379'
  const servers = await Promise.all(given.split(',').map(listen))
  out(`Answers health checks at ${given}; objects are kept in kube-apiserver`)
  await aborted(signal)
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  return 0
}

function listen(text: string): Promise<Server> {
  if (!URL.canParse(text) || new URL(text).protocol !== 'http:')
    throw new UsageError(`--listen-client-urls must be URLs such as http://127.0.0.1:2379, not "${text}"`)
  const { hostname, port } = new URL(text)
  const server = createServer((request, response) => {
    const isHealth = request.url === '/health'
    response.writeHead(isHealth ? 200 : 404, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(isHealth ? { health: 'true', reason: '' } : { error: 'objects are kept in kube-apiserver' }),
    )
  })
  return new Promise((resolve, reject) => {
    server.on('error', (error) =>
      reject(new KubewrightError('KW_COMMAND', `Cannot listen at ${text}: ${errorText(error)}`, { cause: error })),
    )
    server.listen(Number(port || 80), hostname.replace(/^\[|\]$/g, ''), () => resolve(server))
  })
}
