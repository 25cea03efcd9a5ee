import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemProcessHost } from '@kubewright/controllers'
import { startControlPlane } from '@kubewright/controlplane'
import { type AnyKind, crdOf, type Operator } from 'kubewright'
import { createManager } from 'kubewright/runtime'
import { runUntilStopped } from './open-cluster.ts'

/** What {@link runOnThisMachine} takes. */
export interface RunOnThisMachineOptions {
  readonly kind: AnyKind
  /** Makes the operator; what its pods keep goes to the folder, which is removed at the end. */
  readonly operator: (folder: string) => Promise<Operator>
  /** What to try. */
  readonly commands: readonly string[]
}

/** Runs a cluster inside this program whose pods run real programs on this machine, and an operator on it, until Ctrl-C. */
export async function runOnThisMachine({ commands, kind, operator }: RunOnThisMachineOptions): Promise<void> {
  await runUntilStopped(async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), 'kubewright-'))
    const plane = await startControlPlane({ nodes: { nodes: 1, processes: systemProcessHost() } })
    try {
      const { kubeconfig, url } = await plane.listen()
      mkdirSync('.kubewright', { recursive: true })
      writeFileSync('.kubewright/kubeconfig', kubeconfig, { mode: 0o600 })
      const client = plane.client()
      await client.apply(crdOf(kind))
      console.log(`A cluster at ${url}. Try:\n\nexport KUBECONFIG=.kubewright/kubeconfig\n${commands.join('\n')}\n`)
      await createManager({ operator: await operator(folder), client, leaderElection: false }).start({ signal })
    } finally {
      await plane[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    }
  })
}
