import { describe, expect, test } from 'vitest'
import { type Registration, registerPart, registrationHint } from './register-part.ts'

const home: Registration = { list: 'controllers', name: 'homeController', from: './home.controller.ts' }
const webhook: Registration = { list: 'webhooks', name: 'homeWebhook', from: './home.webhook.ts' }

const operator = (body: string): string => `import { defineOperator } from 'kubewright'

export const operator = defineOperator({
${body}})
`

describe('registerPart()', () => {
  test('adds the import in sorted order with the same quotes, else at the end', () => {
    const imports = (...froms: string[]): string => froms.map((from) => `import { x } from "./${from}.ts";\n`).join('')
    const after = (before: string): string[] => {
      const text = registerPart(`${before}\n${operator(`  controllers: [],\n`).split('\n\n')[1]!}`, home)!
      return text.split('\n').filter((line) => line.startsWith('import') || line.startsWith('//'))
    }
    const line = 'import { homeController } from "./home.controller.ts";'
    const [a, z] = [imports('a').trim(), imports('z').trim()]
    expect(after(imports('a', 'z'))).toEqual([a, line, z])
    expect(after(imports('z', 'a'))).toEqual([z, a, line])
    expect(after(`${imports('a')}// About z.\n${imports('z')}`)).toEqual([a, '// About z.', z, line])
  })

  test('adds a part to an empty list, a list on one line, and a list on several lines with comments', () => {
    const empty = registerPart(operator(`  name: 'op',\n  controllers: [],\n`), home)
    expect(empty).toBe(`import { defineOperator } from 'kubewright'
import { homeController } from './home.controller.ts'

export const operator = defineOperator({
  name: 'op',
  controllers: [homeController],
})
`)
    expect(registerPart(operator(`  controllers: [other(dns)],\n`), home)).toContain(
      'controllers: [other(dns), homeController],\n',
    )
    const long = operator(`  controllers: [
    // [this] is the first,
    first({ a: [1, 2], b: "]" }),
    second, // and ] this the second
  ],
`)
    expect(registerPart(long, home)).toContain(`    second, // and ] this the second
    homeController,
  ],
`)
    expect(registerPart(operator(`  controllers: [\n    first\n  ],\n`), home)).toContain(
      '    first,\n    homeController,\n  ],\n',
    )
  })

  test('breaks a line that would become too long', () => {
    const names = ['anExceptionallyLongControllerName', 'anotherExceptionallyLongControllerName', 'yetAnotherOfThem']
    const text = registerPart(operator(`  controllers: [${names.join(', ')}],\n`), home)
    expect(text).toContain(
      `  controllers: [\n${[...names, 'homeController'].map((one) => `    ${one},\n`).join('')}  ],\n`,
    )
  })

  test('adds a missing list after those that precede it', () => {
    const text = registerPart(
      operator(`  name: 'op',\n  controllers: [a], // all of them\n  leaderElection: true,\n`),
      webhook,
    )
    expect(text).toContain(`  controllers: [a], // all of them
  webhooks: [homeWebhook],
  leaderElection: true,
`)
    expect(registerPart(operator(`  name: 'op', controllers: [] `), webhook)).toContain(
      'controllers: [],\n  webhooks: [homeWebhook],',
    )
  })

  test('changes nothing if the part is registered, also as a call', () => {
    for (const element of ['homeController', 'homeController(dns)']) {
      const text = operator(`  controllers: [${element}],\n`)
      expect(registerPart(text, home)).toBe(text)
    }
  })

  test('ignores comments and strings, and supports functions that return operators', () => {
    const text = `import { defineOperator } from 'kubewright';
// defineOperator({ controllers: [] })
const note = "defineOperator({ controllers: [] })"
const shape = \`\${[1].map((n) => \`{\${n}\`)} defineOperator({ controllers: [] })\`
const slash = /[/]{2}defineOperator\\({/.test(note) ? 4 / 2 : 1
export const make = (dns: Dns) =>
  defineOperator({
    name: 'op',
    controllers: [first(dns)],
  });
`
    const changed = registerPart(text, { ...home, alias: 'seaHomeController' })
    expect(changed).toContain('controllers: [first(dns), seaHomeController],')
    expect(changed).toContain("\nimport { homeController as seaHomeController } from './home.controller.ts';\n//")
    expect(changed?.split('\n').length).toBe(text.split('\n').length + 1)
  })

  test('returns undefined for other forms, and registrationHint() describes the change', () => {
    const texts = [
      operator('  controllers: all,\n'),
      operator('  controllers: [...all].filter(Boolean),\n'),
      'export const operator = makeOperator()',
      `${operator('  controllers: [],\n')}${operator('  controllers: [],\n')}`,
      operator('  controllers: [').slice(0, -5),
      "const broken = 'no end\n",
    ]
    for (const text of texts) expect(registerPart(text, home)).toBeUndefined()
    expect(registrationHint(home)).toBe(
      "import { homeController } from './home.controller.ts'   and, in defineOperator:   controllers: [..., homeController]",
    )
  })
})
