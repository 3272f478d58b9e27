/** The bundler puts such files into the code as text. */
declare module '*.lua' {
  const text: string;
  export default text;
}

declare module '*.sql' {
  const text: string;
  export default text;
}

/** A page, bundled: see scripts/page-bundle.mjs. */
declare module '*?bundle' {
  export const script: string;
  export const style: string;
}
