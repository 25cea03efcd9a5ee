import { options, type VNode } from 'preact'

// Characters that change the order in which a text is shown, so that it reads as another one.
const reordering = /[\u202a-\u202e\u2066-\u2069]/g
// Colours and cursor movements of terminals.
const escapes =
  /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])|[\u0000-\u0008\u000b-\u001a]/g

/** A text whose reordering characters are replaced by their names, such as `⟨U+202E⟩`. */
export function visibleText(text: string): string {
  return text.replace(reordering, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase()}⟩`)
}

/** A text without the escape sequences of terminals, which a page does not interpret. */
export function plainText(text: string): string {
  return text.replace(escapes, '')
}

/** Applies {@link visibleText} to all texts and titles that the page draws from now on; not to the values of inputs. */
export function drawVisibleTexts(): void {
  const before = options.vnode
  options.vnode = (node: VNode<Record<string, unknown>>) => {
    const { props } = node as { readonly props: Record<string, unknown> | null }
    if (typeof node.type === 'string' && props !== null) {
      const { children, title } = props
      if (typeof children === 'string') props['children'] = visibleText(children)
      else if (Array.isArray(children) && children.some((child) => typeof child === 'string'))
        props['children'] = children.map((child: unknown) => (typeof child === 'string' ? visibleText(child) : child))
      if (typeof title === 'string') props['title'] = visibleText(title)
    }
    before?.(node)
  }
}
