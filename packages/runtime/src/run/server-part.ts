import { onAbort } from '@kubewright/base'
import type { Runnable, RunnableContext } from '../define/runnable.ts'
import type { HttpListener, ListenOptions } from '../serving/http/http-listener.ts'

/** What {@link serverPart} takes. */
export interface ServerPartOptions extends Omit<ListenOptions, 'log' | 'certificate'> {
  readonly listener: HttpListener
  /** Opens the source of the certificate; without it plain HTTP is served. */
  readonly openCertificate?:
    | (() => Promise<NonNullable<ListenOptions['certificate']> & Partial<AsyncDisposable>>)
    | undefined
}

/** The part of a manager that serves a page: every replica does, from the very start until the end. */
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
