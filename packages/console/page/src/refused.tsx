import { text } from './text.ts'

/** Shown to a browser without a session. */
export function Refused() {
  return (
    <main class="refused">
      <h1>{text('linkUsed')}</h1>
      <p>{text('linkUsedFix')}</p>
    </main>
  )
}
