import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAnyYaml } from './decode-yaml.ts'
import { encodeYaml } from './encode-yaml.ts'
import { readPlainYaml } from './plain-yaml.ts'

const kubeconfig = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==
    server: https://127.0.0.1:6443
  name: kind
# a comment
contexts:
  - context:
      cluster: kind
      namespace: "default"
      user: kind
    name: kind
current-context: kind
kind: Config
preferences: {}
users:
- name: kind
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      args:
      - --region
      - eu-west-1
      command: aws
      env: null
      interactiveMode: IfAvailable
      provideClusterInfo: false
    tokens:
`

describe('readPlainYaml()', () => {
  it('reads a kubeconfig', () => {
    const read = readPlainYaml(kubeconfig)
    expect(read?.value).toEqual(parseAnyYaml(kubeconfig))
    expect(read?.value).toMatchObject({
      'current-context': 'kind',
      preferences: {},
      users: [{ user: { tokens: null } }],
    })
  })

  it.each([
    ['flow', 'a: {b: c}'],
    ['several documents', 'a: b\n---\nc: d'],
    ['an anchor', 'a: &x b'],
    ['an alias', 'a: *x'],
    ['a tag', 'a: !!str b'],
    ['a literal block', 'a: |\n  b'],
    ['multi-line text', 'a: b\n  c'],
    ['text with spaces', 'a: b c'],
    ['a comment after a value', 'a: b # c'],
    ['an escape', 'a: "\\n"'],
    ['a number that is not a plain decimal integer', 'a: 0777'],
    ['a key that is not a string', 'yes: a'],
    ['a key twice', 'a: b\na: c'],
    ['a merge', '<<: a'],
    ['a tab', 'a:\tb'],
    ['another encoding', 'a: ä'],
    ['a carriage return', 'a: b\r\nc: d\r\n'],
    ['an inconsistent indent', 'a:\n    b: c\n  d: e'],
    ['nothing', '\n'],
    ['a single scalar', 'a'],
  ])('leaves %s to the parser', (_, text) => expect(readPlainYaml(text)).toBeUndefined())

  it('reads the output of encoders as the full parser does', () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9./:=-]{0,12}$/)
    const key = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9./-]{0,8}$/)
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, word, fc.nat(), fc.boolean(), fc.constant(null), tie('list'), tie('map')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      map: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    }))
    fc.assert(
      fc.property(fc.dictionary(key, value, { minKeys: 1, noNullPrototype: true }), (object) => {
        const text = encodeYaml(object)
        const read = readPlainYaml(text)
        if (read !== undefined) expect(read.value).toEqual(parseAnyYaml(text))
      }),
      { numRuns: 300 },
    )
  })

  it('never returns a value that differs from the full parser’s', () => {
    const piece = fc.constantFrom(
      ...[
        'a:',
        'b: ',
        'c: d',
        '- ',
        '-',
        '- e',
        '- f: g',
        '  ',
        '    ',
        ' ',
        '\n',
        '\n',
        '\n',
        '{}',
        '[]',
        '""',
        "'x'",
      ],
      ...[
        '1',
        '-1',
        'null',
        'yes',
        '~',
        '--x',
        '---',
        '...',
        'a:b',
        'a: b: c',
        '#',
        ' #',
        'x:',
        '? a',
        ':',
        '0x1',
        '1_0',
        '-a',
        '- - h',
      ],
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = pieces.join('')
        const read = readPlainYaml(text)
        if (read !== undefined) expect(read.value, JSON.stringify(text)).toEqual(parseAnyYaml(text))
      }),
      { numRuns: 5000 },
    )
  })
})
