import { expect, test } from 'vitest'
import { commandProblem } from './check-pictures.ts'
import { commandsOf, terminalSvg } from './terminal-svg.ts'

test('commandProblem() reports commands, flags and scripts that do not exist', () => {
  const scripts = { demo: '' }
  expect(commandProblem('npm run demo', scripts)).toBeUndefined()
  expect(commandProblem('npm run gone', scripts)).toContain('no such script')
  expect(commandProblem('kubewright simulate src/a.ts --samples samples', scripts)).toBeUndefined()
  expect(commandProblem('kubewright simulate --gone', scripts)).toContain('no such flag --gone')
  expect(commandProblem('kubewright gone', scripts)).toContain('no such command')
  expect(commandProblem('kubectl get pods', scripts)).toBeUndefined()
})

test('terminalSvg() keeps the commands, escapes text and wraps long lines', () => {
  const commands = ['kubewright dev --port 0', 'kubectl get pods']
  const lines = [
    { text: '\u001b[32m<ok>\u001b[39m', at: 0 },
    { text: 'word '.repeat(30), at: 500 },
  ]
  const svg = terminalSvg({ title: 'A "title"', commands, lines })
  expect(commandsOf(svg)).toEqual(commands)
  expect(svg).toContain('<tspan class="g">&lt;ok&gt;</tspan>')
  expect(svg).toContain('aria-label="A &quot;title&quot;"')
  expect(svg.match(/<text /g)).toHaveLength(3)
  expect(svg).toContain('prefers-reduced-motion')
})
