/** A unified diff. */
export function DiffView({ lines }: { readonly lines: readonly string[] }) {
  return (
    // Focusable, so that the keyboard can scroll a long diff.
    <pre class="diff" tabIndex={0}>
      {lines.map((line, index) => (
        <div key={index} class={tones[line[0] ?? '']}>
          {line}
          {'\n'}
        </div>
      ))}
    </pre>
  )
}

const tones: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'quiet' }
