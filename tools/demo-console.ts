// The web console of the demo, with the operators that run in this process.
import { createLogger, systemClock } from '@kubewright/base'
import { type Console, startConsole } from '@kubewright/console'
import { type DebugReport, debugReport } from '@kubewright/runtime'
import { buildPage } from './build-page.ts'
import type { Stage } from './demo-stage.ts'

/** Serves the console of a stage. Failed requests of the page must not disturb the story, so nothing is logged. */
export async function openDemoConsole({ plane, managers }: Stage): Promise<Console> {
  return startConsole({
    client: plane.client({ isExempt: true }),
    levers: plane.levers,
    cluster: 'demo',
    recordFrom: 'start',
    page: await buildPage(),
    log: createLogger({ enabled: () => false, write: () => undefined }),
    operators: managers.map((manager) => ({
      name: manager.name,
      control: async (controller, command) => manager.runners.find(({ name }) => name === controller)?.[command](),
      // As JSON, in the form in which a debug address serves it.
      report: async () => JSON.parse(JSON.stringify(debugReport({ manager, clock: systemClock }))) as DebugReport,
    })),
  })
}
