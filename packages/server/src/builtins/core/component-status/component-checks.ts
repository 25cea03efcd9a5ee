import { CaughtError, type Clock, errorText, withDeadline } from '@kubewright/base'
import { type Outgoing, OutgoingError } from '../../../outgoing/outgoing.ts'

/** The health of a component of the control plane: resolves to a message, or rejects with the reason why it is not healthy. */
export type ComponentCheck = () => Promise<string>

/** Components that run in the process of the server, by name: `controller-manager`, `scheduler`. Undefined for one that does not. */
export type ComponentChecks = (name: string) => ComponentCheck | undefined

/** Milliseconds within which a component must respond. */
const deadline = 20_000

/** Asks the health endpoint of a component on this machine, as kube-apiserver does: its certificate is not verified. */
export function probe(outgoing: Outgoing, clock: Clock, release: string, port: number): ComponentCheck {
  const url = `https://127.0.0.1:${port}/healthz`
  return () =>
    withDeadline(clock, deadline, `get ${url}`, async (signal) => {
      try {
        const { status, body } = await outgoing({
          method: 'GET',
          url: new URL(url),
          headers: { 'user-agent': `kube-probe/${release}`, accept: '*/*' },
          tls: { insecure: true },
          signal,
        })
        const chunks: Uint8Array[] = []
        for await (const chunk of body) chunks.push(chunk)
        const text = Buffer.concat(chunks).toString().slice(0, 1024)
        if (status < 200 || status >= 400) throw new CaughtError(`HTTP probe failed with statuscode: ${status}`)
        return text
      } catch (error) {
        if (!(error instanceof OutgoingError)) throw error
        throw new CaughtError(`Get "${url}": ${errorText(error)}`, { cause: error })
      }
    })
}
