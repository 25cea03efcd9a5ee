import {
  type ApiClient,
  type Credentials,
  createClient,
  type Impersonation,
  parseKubeconfig,
  resolveContext,
  systemConfigHost,
  type Transport,
  transportFor,
} from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import type { Life } from './faults.ts'
import { tellingRefusals } from './operator-rights.ts'
import type { InterceptTransport } from './test-env.ts'
import type { World } from './world.ts'

type Sender = Parameters<InterceptTransport>[1]
/** Adds the interception, the meter and the faults of an environment to a transport. */
export type Wrap = (direct: Transport, sender: Sender) => Transport

/** The names of the senders in messages. */
export const senderNames = {
  operator: 'the operator',
  webhooks: 'a webhook of the operator',
  controllers: 'a built-in controller',
} as const

/** Opens a connection to the API server as its administrator. */
export type Open = (sender: Sender) => { readonly transport: Transport; readonly credentials?: Credentials | undefined }

/** How connections to an embedded control plane are opened, in this process or over HTTPS. */
export async function opener(
  controlPlane: ControlPlane,
  transport: 'in-process' | 'https',
  world: World,
  wrap: Wrap,
): Promise<Open> {
  if (transport === 'in-process') return (sender) => ({ transport: wrap(controlPlane.transport(), sender) })
  const { kubeconfig } = await controlPlane.listen()
  const { clock } = controlPlane
  const config = resolveContext(parseKubeconfig(kubeconfig, 'the control plane'), {}, { host: systemConfigHost, clock })
  return (sender) => ({
    transport: wrap(countingRequests(transportFor(config, { clock }), world), sender),
    credentials: config.credentials,
  })
}

/** Wraps a transport to count the requests that have no response yet. */
function countingRequests(transport: Transport, world: World): Transport {
  const { upgrade } = transport
  return {
    host: transport.host,
    async send(request) {
      world.requestsInFlight++
      try {
        return await transport.send(request)
      } finally {
        world.requestsInFlight--
      }
    },
    ...(upgrade ? { upgrade: (request) => upgrade.call(transport, request) } : {}),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

/** Creates the clients of the operator: with its permissions, and reporting those that it lacks. */
export type Connect = (sender: 'operator' | 'webhooks', life?: Life) => ApiClient

/** Creates a {@link Connect} for the identity of an operator. */
export function connector(
  open: Open,
  { impersonate, namespace }: { readonly impersonate: Impersonation | undefined; readonly namespace: string },
  { failure, faults, time: { clock } }: World,
): Connect {
  return (sender, life) => {
    const way = open(sender)
    const faulty = sender === 'operator' ? faults.wrap(way.transport, sender, life) : way.transport
    const transport = tellingRefusals(faulty, (refusal) => failure.happen(refusal))
    return createClient({ ...way, transport, impersonate, clock, namespace })
  }
}
