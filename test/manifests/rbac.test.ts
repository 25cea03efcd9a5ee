// The generated roles are enough, and nothing in them is too much: the examples run under exactly these, and fail without any of their rights.
import { type Controller, defineOperator, type PolicyRule } from '@kubewright/runtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type DeployedOperator,
  type GrantedRole,
  type InstalledOperator,
  installOperator,
  type RunOptions,
  rolesOf,
  scraperToken,
} from './deployed-operator.ts'
import { type OperatorScenario, scenarios } from './operator-scenarios.ts'

// Most runs take less than a second, where nobody else has the machine.
const minutes = (count: number): number => count * 60_000

/** One verb of one resource in one role. */
interface Right {
  readonly role: GrantedRole
  readonly rule: PolicyRule
}

const nameOf = ({ role, rule: { apiGroups = [], resources = [], resourceNames = [], verbs } }: Right): string =>
  [`${verbs} ${apiGroups}/${resources}`, ...resourceNames, `of ${role.metadata.name}`].join(' ')

function rightsOf(roles: readonly GrantedRole[]): Right[] {
  return roles.flatMap((role) => role.rules.flatMap(singleRules).map((rule) => ({ role, rule })))
}

function singleRules({ apiGroups = [], resources = [], resourceNames, verbs }: PolicyRule): PolicyRule[] {
  const names = resourceNames?.map((name) => ({ resourceNames: [name] })) ?? [{}]
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((named) => ({ apiGroups: [group], resources: [resource], ...named, verbs: [verb] })),
      ),
    ),
  )
}

/** The role without the right. */
function without({ role, rule }: Right): GrantedRole {
  const kept = role.rules.flatMap(singleRules).filter((other) => JSON.stringify(other) !== JSON.stringify(rule))
  return { ...role, rules: kept }
}

/** Runs a scenario until it is through or something is refused; gives everything that was refused. */
async function refusedIn(
  { make, use }: OperatorScenario,
  installed: InstalledOperator,
  options: RunOptions,
): Promise<string[]> {
  await using deployed = await installed.run({ ...make(), ...options })
  const whole = doAll(deployed, use)
  // Once something is refused, nobody cares how the rest ends.
  whole.catch(() => undefined)
  await Promise.race([whole, deployed.firstRefusal])
  return [...deployed.refused.values()]
}

async function doAll(deployed: DeployedOperator, use: OperatorScenario['use']): Promise<void> {
  await deployed.ready
  await use(deployed)
  expect(await deployed.metrics(scraperToken)).toBe(403)
  await deployed.stop()
}

/** What the server says to who lacks the right. */
function refusalFor({ apiGroups = [], resources = [], verbs }: PolicyRule): string {
  const [resource = ''] = resources
  if (resource.endsWith('/finalizers')) return "refers to a resource you can't set finalizers on"
  return `cannot ${verbs} resource "${resource}" in API group "${apiGroups}"`
}

describe.each(scenarios)('the generated roles of $name', (scenario) => {
  const { make, options, differsIn = '' } = scenario
  let installed: InstalledOperator
  beforeAll(async () => {
    const { operator, nodes } = make()
    installed = await installOperator(operator, { ...options, nodes })
  })
  afterAll(() => installed[Symbol.asyncDispose]())

  it(
    'are enough',
    async () => {
      expect(await refusedIn(scenario, installed, {})).toEqual([])
    },
    minutes(3),
  )

  it(
    'are enough on servers without streaming lists and networks that lose answers',
    async () => {
      expect(await refusedIn(scenario, installed, { isRough: true })).toEqual([])
    },
    minutes(3),
  )

  const roles = rolesOf(make().operator, options).filter(({ metadata }) => metadata.name.endsWith(differsIn))
  const rights = rightsOf(roles).map((right) => [nameOf(right), right] as const)
  it.each(rights)(
    'are not enough without %s',
    async (_, right) => {
      const refused = await refusedIn(scenario, installed, { isRough: true, roles: [without(right)] })
      expect(refused[0] ?? 'nothing was refused').toContain(refusalFor(right.rule))
    },
    minutes(3),
  )
})

it(
  'a right that nothing needs is found',
  async () => {
    const [scenario] = scenarios as readonly [OperatorScenario]
    const { operator } = scenario.make()
    const [controller] = operator.controllers as readonly [Controller]
    const rbac = [...controller.rbac, { apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }]
    const greedy = defineOperator({ ...operator, controllers: [{ ...controller, rbac }] })
    const right = rightsOf(rolesOf(greedy)).find(({ rule }) => rule.resources?.includes('configmaps'))
    await using installed = await installOperator(greedy)
    const run = { ...scenario, make: () => ({ operator: greedy }) }
    expect(await refusedIn(run, installed, { isRough: true, roles: [without(right!)] })).toEqual([])
  },
  minutes(3),
)
