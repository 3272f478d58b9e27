/** The bundler puts such files into the code as text. */
declare module '*.lua' {
  const text: string;
  export default text;
}

declare module '*.sql' {
  const text: string;
  export default text;
}
