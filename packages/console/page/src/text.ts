import { type Language, languages, type TextName } from './strings.ts'

const stored = 'kubewright-language'
let current: Language = initialLanguage()

/** The text of the current language, with `{0}`, `{1}` and so on replaced by the values. */
export function text(name: TextName, ...values: readonly (string | number)[]): string {
  return languages[current][name].replace(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)] ?? ''))
}

export function currentLanguage(): Language {
  return current
}

/** Takes effect when the page is drawn again. */
export function setLanguage(language: Language): void {
  current = language
  document.documentElement.lang = language
  localStorage.setItem(stored, language)
}

function initialLanguage(): Language {
  for (const name of [localStorage.getItem(stored) ?? '', ...navigator.languages]) {
    const short = name.slice(0, 2)
    if (short in languages) return short as Language
  }
  return 'en'
}
