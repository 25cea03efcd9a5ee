/** A unified diff. */
export function DiffView({ lines }: { readonly lines: readonly string[] }) {
  return (
    <pre class="diff">
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
