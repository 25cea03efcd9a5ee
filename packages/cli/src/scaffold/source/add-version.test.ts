import { describe, expect, test } from 'vitest'
import { addVersion, storeVersion } from './add-version.ts'

const home = `import { defineResource, type Infer, s } from 'kubewright'

/** A home. */
export const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  shortNames: ['hm'], // short
  spec: s.object({
    // What is served, such as "a, {b}".
    image: s.string({ minLength: 1 }).rule(\`self != '}'
  && true\`),
  }),
  // Seen from outside.
  status: s.object({ ready: s.int() }),
  columns: { Ready: '.status.ready' }
})
export type Home = Infer<typeof Home>
`

const two = `import { defineResource, type Infer, s } from 'kubewright'

/** A home. */
export const Home = defineResource({
  group: 'ajd.example.com',
  kind: 'Home',
  shortNames: ['hm'], // short
  versions: {
    v1: {
      storage: true,
      spec: s.object({
        // What is served, such as "a, {b}".
        image: s.string({ minLength: 1 }).rule(\`self != '}'
  && true\`),
      }),
      // Seen from outside.
      status: s.object({ ready: s.int() }),
      columns: { Ready: '.status.ready' },
    },
    v2: {
      spec: s.object({
        // What is served, such as "a, {b}".
        image: s.string({ minLength: 1 }).rule(\`self != '}'
  && true\`),
      }),
      status: s.object({ ready: s.int() }),
      columns: { Ready: '.status.ready' },
    },
  },
})
export type Home = Infer<typeof Home>
`

describe('addVersion()', () => {
  test('turns a definition with one version into one with two, the second a copy', () => {
    expect(addVersion(home, 'Home', 'v2')).toBe(two)
  })

  test('adds a copy of the storage version to a definition with several', () => {
    const text = two
      .replace('      storage: true,\n', '')
      .replace('    v2: {\n', "    v2: {\n      storage: true, deprecated: 'soon',\n")
    const three = addVersion(text, 'Home', 'v3beta1')
    expect(three).toContain(`      columns: { Ready: '.status.ready' },
    },
    v3beta1: {
      spec: s.object({`)
    expect(three?.match(/storage|deprecated/g)).toEqual(['storage', 'deprecated'])
  })

  test('changes nothing if the version exists', () => {
    expect(addVersion(home, 'Home', 'v1')).toBe(home)
    expect(addVersion(two, 'Home', 'v2')).toBe(two)
  })

  test('returns undefined for definitions that are not object literals', () => {
    for (const text of [
      home.replace("version: 'v1'", 'version: current'),
      home.replace('shortNames:', '...names, shortNames:'),
      home.replace("kind: 'Home'", 'kind'),
      two.replace('versions: {', 'versions: { ...others,'),
      home + home,
    ]) {
      expect(addVersion(text, 'Home', 'v2')).toBeUndefined()
    }
  })
})

describe('storeVersion()', () => {
  test('moves storage from one version to another, and back', () => {
    const moved = storeVersion(two, 'Home', 'v2')
    expect(moved).toBe(
      two.replace('      storage: true,\n', '').replace('    v2: {\n', '    v2: {\n      storage: true,\n'),
    )
    expect(storeVersion(moved!, 'Home', 'v1')).toBe(two)
    expect(storeVersion(two, 'Home', 'v1')).toBe(two)
  })

  test('handles versions on one line, and returns undefined for an unknown version', () => {
    const line = `defineResource({ kind: 'Home', versions: { v1: { storage: true, spec }, v2: { spec } } })`
    expect(storeVersion(line, 'Home', 'v2')).toBe(
      `defineResource({ kind: 'Home', versions: { v1: { spec }, v2: { storage: true, spec } } })`,
    )
    expect(storeVersion(line, 'Home', 'v3')).toBeUndefined()
    expect(storeVersion(home, 'Home', 'v1')).toBeUndefined()
  })
})
