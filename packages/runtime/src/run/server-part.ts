import { onAbort } from '@kubewright/base'
import type { Runnable, RunnableContext } from '../define/runnable.ts'
import type { HttpListener, ListenOptions } from '../serving/http/http-listener.ts'

/** Options of {@link serverPart}. */
export interface ServerPartOptions extends Omit<ListenOptions, 'log' | 'certificate'> {
  readonly listener: HttpListener
  /** Opens the certificate source; without it, the server uses plain HTTP. */
  readonly openCertificate?:
    | (() => Promise<NonNullable<ListenOptions['certificate']> & Partial<AsyncDisposable>>)
    | undefined
}

/** The runnable of an HTTP server. Runs on every replica, from the start to the end. */
export function serverPart(options: ServerPartOptions): Runnable {
  const { listener, openCertificate, ...listen } = options
  return {
    name: `${options.name} server`,
    phase: 'server',
    announcesReady: true,
    run: async ({ drain, log, ready }: RunnableContext) => {
      const certificate = await openCertificate?.()
      try {
        const listening = await listener.listen({ ...listen, log, certificate })
        log.info('Serving', { server: options.name, port: listening.port, secure: certificate !== undefined })
        ready()
        await new Promise<void>((resolve) => onAbort(drain, () => resolve()))
        await listening[Symbol.asyncDispose]()
      } finally {
        await certificate?.[Symbol.asyncDispose]?.()
      }
    },
  }
}
