import { Component, type ComponentChildren } from 'preact'
import { text } from './text.ts'

/** Shows the error of a view that cannot be drawn in its place, so that the rest of the page stays usable. */
export class FailureBoundary extends Component<{ readonly children: ComponentChildren }, { readonly error?: Error }> {
  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <div class="empty" role="alert">
        <p class="problem">{text('viewFailed', error.message)}</p>
      </div>
    )
  }
}
