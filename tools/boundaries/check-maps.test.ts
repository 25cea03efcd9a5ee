import { expect, test } from 'vitest'
import { mapProblems } from './check-maps.ts'

const packages = [
  { folder: 'base', dependencies: [] },
  { folder: 'cel', dependencies: ['re2js'] },
]
const maps = {
  agents: 'packages/\n  base/    clock\n  cel/     expressions\n',
  readme: '| [base](packages/base/README.md) | a |\n| [cel](packages/cel/README.md) | b |\n',
  dependencies: '| package | used by | reason |\n|---|---|---|\n| re2js | `cel` | patterns |\n',
}

test('mapProblems() accepts maps that agree with the packages', () => {
  expect(mapProblems(packages, maps)).toEqual([])
})

test('mapProblems() reports missing and unknown packages and dependencies', () => {
  const stale = {
    agents: '  base/    clock\n  gone/    x\n',
    readme: '| [base](packages/base/README.md) | a |\n',
    dependencies: '| yaml | `cel` | files |\n',
  }
  expect(mapProblems(packages, stale)).toEqual([
    'The tree of AGENTS.md lacks cel',
    'The tree of AGENTS.md names gone, which does not exist',
    'The table of README.md lacks cel',
    'The table of ADR 2 lacks re2js',
    'The table of ADR 2 names yaml, which does not exist',
  ])
})

test('mapProblems() reports a package that the row of its dependency does not name', () => {
  const all = [...packages, { folder: 'cli', dependencies: ['re2js'] }]
  const agents = `${maps.agents}  cli/     commands\n`
  const readme = `${maps.readme}| [cli](packages/cli/README.md) | c |\n`
  expect(mapProblems(all, { ...maps, agents, readme })).toEqual([
    'The table of ADR 2: the row of re2js lacks `cli`, whose package.json declares it',
  ])
})
