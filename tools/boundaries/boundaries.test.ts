import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkFileCycles, checkRooms } from './check-rooms.ts'
import { allowedImports, readLayerTables, tableProblems } from './layer-tables.ts'

const page = `
## The packages
| package | lives there | may import |
|---|---|---|
| \`base\` | things | nothing |
| \`api\` | more | \`base\` |
### Rooms of \`api\`
| \`low\` | a | nothing |
| \`high\` | b | \`low\` |
## Elsewhere
| \`other\` | no table of ours | \`base\` |
`

describe('readLayerTables()', () => {
  test('reads the packages and the rooms, and no other table', () => {
    const { packages, rooms } = readLayerTables(page)
    expect([...packages.keys()]).toEqual(['base', 'api'])
    expect([...rooms.get('api')!.keys()]).toEqual(['low', 'high'])
    expect([...allowedImports(packages, 'api')]).toEqual(['base'])
  })
})

describe('tableProblems()', () => {
  test('reports unknown names and cycles', () => {
    const table = new Map([
      ['a', new Set(['b'])],
      ['b', new Set(['a'])],
      ['c', new Set(['d'])],
    ])
    expect(tableProblems('T', table)).toEqual([
      'T: `a` is part of an import cycle',
      'T: `b` is part of an import cycle',
      'T: `c` may import `d`, which has no row',
    ])
  })
})

describe('with source files', () => {
  let source: string
  const write = (files: Record<string, string>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(source, name)), { recursive: true })
      writeFileSync(join(source, name), text)
    }
  }
  beforeEach(() => {
    source = mkdtempSync(join(tmpdir(), 'rooms-'))
  })
  afterEach(() => rmSync(source, { recursive: true }))

  test('checkRooms() reports imports that the table does not allow, types included', () => {
    write({
      'low/a.ts': `import type { B } from '../high/b.ts'`,
      'high/b.ts': `import { a } from '../low/a.ts'`,
      'main.ts': `import './high/b.ts'`,
      'low/c.ts': `import '../main.ts'`,
    })
    expect(checkRooms('api', source, readLayerTables(page).rooms.get('api')!).sort()).toEqual([
      'Rooms of api: low/a.ts imports high/b.ts; `low` may not import `high`',
      'Rooms of api: low/c.ts imports main.ts; `low` may not import `src`',
      'Rooms of api: the folder src has no row (main.ts)',
    ])
  })

  test('checkRooms() reports folders without a row and rows without a folder', () => {
    write({ 'low/a.ts': '', 'attic/x.ts': '' })
    expect(checkRooms('api', source, readLayerTables(page).rooms.get('api')!).sort()).toEqual([
      'Rooms of api: the folder attic has no row (attic/x.ts)',
      'Rooms of api: there is no folder for the row `high`',
    ])
  })

  test('checkFileCycles() counts imports that load a module, not types or dynamic imports', () => {
    write({
      'a.ts': `import { b } from './b.ts'`,
      'b.ts': `export { a } from './a.ts'`,
      'c.ts': `import type { D } from './d.ts'`,
      'd.ts': `import { c } from './c.ts'; const lazy = () => import('./e.ts')`,
      'e.ts': `import { d } from './d.ts'`,
    })
    expect(checkFileCycles('api', source)).toEqual(['packages/api: these files import each other: a.ts, b.ts'])
  })
})
