/** The text of such a file, without its comments: see scripts/text-files.mjs. */
declare module '*.lua' {
  const text: string;
  export default text;
}

declare module '*.sql' {
  const text: string;
  export default text;
}

/** A page, bundled: see scripts/text-files.mjs. */
declare module '*?bundle' {
  export const script: string;
  export const style: string;
}
