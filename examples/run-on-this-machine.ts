import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemProcessHost } from '@kubewright/controllers'
import { startControlPlane } from '@kubewright/controlplane'
import { type AnyKind, crdOf, type Operator } from 'kubewright'
import { createManager } from 'kubewright/runtime'
import { runUntilStopped } from './open-cluster.ts'

/** Options of {@link runOnThisMachine}. */
export interface RunOnThisMachineOptions {
  readonly kind: AnyKind
  /** Creates the operator. Its pods store their data in the folder, which is deleted at the end. */
  readonly operator: (folder: string) => Promise<Operator>
  /** Example commands to print. */
  readonly commands: readonly string[]
}

/** Runs an embedded cluster whose pods are real processes on this machine, and an operator, until Ctrl-C. */
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
      console.log(
        `The cluster is available at ${url}. Try:\n\nexport KUBECONFIG=.kubewright/kubeconfig\n${commands.join('\n')}\n`,
      )
      await createManager({ operator: await operator(folder), client, leaderElection: false }).start({ signal })
    } finally {
      await plane[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    }
  })
}
