import { httpTransport, RestClient } from '@kubewright/client'
import type { DebugReport } from '@kubewright/runtime'
import type { OperatorSource } from './operator-source.ts'

/** An operator that serves its state at a debug address, such as `http://127.0.0.1:6060`. */
export function debugAddress(url: string): OperatorSource {
  const rest = new RestClient({ transport: httpTransport({ server: url }), timeout: '5s' })
  return {
    name: url,
    control: async (controller, command) => {
      const path = `/debug/kubewright/controllers/${encodeURIComponent(controller)}/${command}`
      await rest.json({ method: 'POST', path, body: '{}' })
    },
    report: async (signal) => (await rest.json({ method: 'GET', path: '/debug/kubewright', signal })) as DebugReport,
  }
}
