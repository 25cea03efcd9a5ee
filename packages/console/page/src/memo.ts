import { Component, type ComponentChild, createElement, type FunctionComponent } from 'preact'

/**
 * Draws a component again only when one of its properties changes. Functions do not count, nor do the properties that
 * another one stands for.
 */
export function memo<P extends object>(
  inner: FunctionComponent<P>,
  ignored: readonly (keyof P & string)[] = [],
): FunctionComponent<P> {
  const isIgnored = new Set<string>(ignored)
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const before: Record<string, unknown> = { ...this.props }
      return Object.entries(next).some(
        ([name, value]) => typeof value !== 'function' && !isIgnored.has(name) && before[name] !== value,
      )
    }
    override render(props: P): ComponentChild {
      return createElement(inner, props)
    }
  }
  return Memo as unknown as FunctionComponent<P>
}
