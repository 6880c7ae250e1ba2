// The product these pages belong to, as the page itself says it.

const said = (name) => document.querySelector(`meta[name=${name}]`)?.content ?? '';

export const PRODUCT = { name: said('product'), logo: said('product-logo'), support: said('product-support') };
