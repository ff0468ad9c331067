terraform {
  required_providers {
    restful = { source = "magodo/restful" }
  }
}

variable "tocsin_token" {
  type      = string
  sensitive = true
}

provider "restful" {
  base_url      = "https://acme.tocsin.example.com"
  update_method = "PATCH"
  security      = { http = { token = { token = var.tocsin_token } } }
}

resource "restful_resource" "payments" {
  path            = "/api/v1/teams"
  read_path       = "$(path)/$(body.id)"
  create_selector = "team"
  read_selector   = "team"
  update_header   = { "If-Service-Resource-Version" = "$(body.revision)" }
  body            = { slug = "payments", name = "Payments" }
}

resource "restful_resource" "checkout" {
  path            = "/api/v1/services"
  read_path       = "$(path)/$(body.id)"
  create_selector = "service"
  read_selector   = "service"
  update_header   = { "If-Service-Resource-Version" = "$(body.revision)" }
  body = {
    slug          = "checkout"
    name          = "Checkout"
    tier          = "t1"
    owner_team_id = restful_resource.payments.output.id
  }
}
