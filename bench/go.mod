module github.com/gardefou/gardefou/bench

go 1.26.5

require (
	github.com/dlclark/regexp2 v1.12.0
	github.com/dlclark/regexp2/v2 v2.13.0
	github.com/gardefou/gardefou v0.0.0
	github.com/google/osv-scalibr v0.5.3
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/gardefou/gardefou => ../
