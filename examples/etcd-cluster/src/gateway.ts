import { request } from 'node:http'
import { type Etcd, type EtcdCall, type EtcdHealth, type EtcdMember, EtcdRefusal } from './etcd.ts'

// gRPC status codes that etcd's gateway passes on.
const notFound = 5
const failedPrecondition = 9
const unavailable = 14
// A member that takes longer counts as unavailable; the next reconcile checks again.
const timeoutMillis = 3000

/** etcd through its JSON gateway, which every member serves at its client URL. */
export function etcdGateway(): Etcd {
  return {
    async health(url, call): Promise<EtcdHealth> {
      // Reads are linearizable by default, so a response proves that the member reaches a majority.
      await post(url, '/v3/kv/range', { key: Buffer.from('health').toString('base64') }, call)
      const { header, leader } = (await post(url, '/v3/maintenance/status', {}, call)) as StatusAnswer
      return { clusterId: header.cluster_id, memberId: header.member_id, isLeader: leader === header.member_id }
    },
    async members(url, call) {
      const { members } = (await post(url, '/v3/cluster/member/list', {}, call)) as ListAnswer
      return members.map(memberFrom)
    },
    async addLearner(url, peerUrl, call) {
      await post(url, '/v3/cluster/member/add', { peerURLs: [peerUrl], isLearner: true }, call)
    },
    async promote(url, id, call) {
      await post(url, '/v3/cluster/member/promote', { ID: id }, call)
    },
    async remove(url, id, call) {
      await post(url, '/v3/cluster/member/remove', { ID: id }, call).catch((error: unknown) => {
        if (!(error instanceof GatewayError && error.code === notFound)) throw error
      })
    },
  }
}

class GatewayError extends Error {
  readonly code: number

  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

interface Header {
  readonly cluster_id: string
  readonly member_id: string
}
interface StatusAnswer {
  readonly header: Header
  readonly leader?: string
}
interface ListAnswer {
  readonly members: readonly MemberAnswer[]
}
/** The gateway omits empty and false fields. */
interface MemberAnswer {
  readonly ID: string
  readonly name?: string
  readonly peerURLs: readonly string[]
  readonly clientURLs?: readonly string[]
  readonly isLearner?: boolean
}

const memberFrom = ({ ID, name = '', peerURLs, clientURLs = [], isLearner = false }: MemberAnswer): EtcdMember => ({
  id: ID,
  name,
  peerUrl: peerURLs[0] ?? '',
  clientUrl: clientURLs[0],
  isLearner,
})

/** Sends a request to a member. Responses have etcd's documented format. */
function post(url: string, path: string, body: unknown, { signal }: EtcdCall): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMillis)]),
    }
    const sent = request(new URL(path, url), options, (response) => {
      const chunks: Buffer[] = []
      response.on('error', reject)
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        try {
          if (response.statusCode === 200) resolve(JSON.parse(text))
          else reject(errorFrom(text))
        } catch {
          reject(new Error(`Cannot parse the response of etcd at ${url}: ${text.slice(0, 200)}`))
        }
      })
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

function errorFrom(text: string): Error {
  const { message, code } = JSON.parse(text) as { readonly message: string; readonly code: number }
  const isTemporary = code === failedPrecondition || code === unavailable
  return isTemporary ? new EtcdRefusal(message) : new GatewayError(message, code)
}
