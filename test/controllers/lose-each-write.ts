import type { ApiHandler } from '@kubewright/api'
import { builtinControllers } from '@kubewright/controllers'
import { expect } from 'vitest'
import { type Plane, startPlane } from './plane.ts'

const controllers = (pattern: RegExp) =>
  builtinControllers.filter(({ name }) => pattern.test(name)).flatMap((one) => one.controllers)

/** Loses the n-th write, before or after the server has executed it. */
function losing(n: number, when: 'before' | 'after') {
  let writes = 0
  const between =
    (handler: ApiHandler): ApiHandler =>
    async (request) => {
      if (request.method === 'GET' || request.path.includes('/events') || writes++ !== n) return handler(request)
      if (when === 'after') await handler(request)
      throw new Error('the connection was lost')
    }
  return { between, hasLost: () => writes > n }
}

/** Runs a scenario repeatedly, each time losing another write, until every write was lost once. */
export async function loseEachWrite(
  pattern: RegExp,
  when: 'before' | 'after',
  scenario: (plane: Plane) => Promise<unknown>,
): Promise<void> {
  for (let n = 0; ; n++) {
    const { between, hasLost } = losing(n, when)
    await using plane = await startPlane({ controllers: controllers(pattern), nodes: 1, between })
    await scenario(plane)
    if (!hasLost()) {
      expect(n).toBeGreaterThan(5)
      return
    }
  }
}
