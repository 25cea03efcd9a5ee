// docs/reference/limits.md has tables of all budgets. `npm test -- test/limits-reference -u` rewrites them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Budget, definedBudgets } from '../packages/base/src/budget.ts'

const root = join(import.meta.dirname, '..')
const file = join(root, 'docs/reference/limits.md')

/** The source files with budgets, and how many each defines. */
function definingFiles(): { readonly path: string; readonly count: number }[] {
  return readdirSync(join(root, 'packages'))
    .flatMap((name) =>
      readdirSync(join(root, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' }).map((each) =>
        join(root, 'packages', name, 'src', each),
      ),
    )
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.endsWith('base/src/budget.ts'))
    .map((path) => ({ path, count: readFileSync(path, 'utf8').split(' defineBudget(').length - 1 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

function valueText({ value, unit = 'count' }: Budget): string {
  if (typeof value === 'string') return value.replace(/s$/, ' s')
  if (unit === 'millis') return `${value / 1000} s`
  if (unit === 'bytes' && value % 2 ** 20 === 0) return `${value / 2 ** 20} MiB`
  if (unit === 'bytes' && value % 1024 === 0) return `${value / 1024} KiB`
  return unit === 'bytes' ? `${value.toLocaleString('en')} bytes` : value.toLocaleString('en')
}

function table(budgets: readonly Budget[], group: Budget['group']): string {
  const isServer = group === 'server'
  const rows = budgets
    .filter((budget) => budget.group === group)
    .map((budget) => {
      const { what, shown = '{}', option = 'none', answer, kubernetes = '' } = budget
      return [what, shown.replace('{}', valueText(budget)), option, answer, ...(isServer ? [kubernetes] : [])]
    })
  const head = ['limit', 'default', 'option', 'answer when exceeded', ...(isServer ? ['same in kube-apiserver?'] : [])]
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
    .replaceAll('| --- ', '|---')
    .replaceAll('--- |', '---|')
}

const between = (page: string, name: string, text: string): string =>
  page.replace(
    new RegExp(`(<!-- The ${name}, from .*? -->\\n).*?(<!-- End of the ${name}\\. -->)`, 's'),
    (_, start: string, end: string) => `${start}${text}\n${end}`,
  )

test('docs/reference/limits.md lists all budgets', async () => {
  const files = definingFiles()
  for (const { path } of files) await import(path)
  const budgets = [...definedBudgets()].sort((a, b) => (a.what < b.what ? -1 : 1))
  expect(budgets).toHaveLength(files.reduce((sum, { count }) => sum + count, 0))
  for (const { group, what, kubernetes } of budgets) expect(group === 'server', what).toBe(kubernetes !== undefined)
  let page = readFileSync(file, 'utf8')
  page = between(page, 'budgets of the server', table(budgets, 'server'))
  page = between(page, 'budgets of other servers', table(budgets, 'other'))
  page = between(page, 'budgets of controllers', table(budgets, 'controllers'))
  await expect(page).toMatchFileSnapshot(file)
})
