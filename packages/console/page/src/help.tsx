import { Dialog } from './dialog.tsx'
import type { TextName } from './strings.ts'
import { text } from './text.ts'

const shortcuts: readonly (readonly [string, TextName])[] = [
  ['Ctrl+K  :', 'helpPalette'],
  ['/', 'helpFilter'],
  ['j  k  ↓  ↑', 'helpRows'],
  ['Enter', 'helpOpen'],
  ['y', 'helpYaml'],
  ['e', 'helpEdit'],
  ['Esc', 'helpBack'],
  ['?', 'helpHelp'],
]

/** Lists the keyboard shortcuts. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog label={text('help')} onClose={onClose}>
      <h2>{text('help')}</h2>
      <dl class="keys">
        {shortcuts.map(([keys, name]) => (
          <div key={name}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{text(name)}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog" class="buttons">
        <button type="submit">{text('close')}</button>
      </form>
    </Dialog>
  )
}
