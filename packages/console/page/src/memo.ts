import { Component, type ComponentChild, createElement, type FunctionComponent } from 'preact'

/** Draws a component again only when one of its properties changes. Functions do not count. */
export function memo<P extends object>(inner: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const before: Record<string, unknown> = { ...this.props }
      return Object.entries(next).some(([name, value]) => typeof value !== 'function' && before[name] !== value)
    }
    override render(props: P): ComponentChild {
      return createElement(inner, props)
    }
  }
  return Memo as unknown as FunctionComponent<P>
}
